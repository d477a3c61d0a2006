export { FollowedLeader } from "./leader.ts";
