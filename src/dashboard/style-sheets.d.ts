/** A style sheet that is loaded when it is imported. */
declare module "*.css";
