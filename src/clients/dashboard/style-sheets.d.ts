/** A style sheet, loaded by importing it. */
declare module "*.css";
