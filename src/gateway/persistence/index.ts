/** What a server stores besides its log, and what it reads at its next start. */
export { CheckpointSchedule, PacedWork } from "./checkpoint-schedule.ts";
export {
  type HeadState,
  type MemoryOptions,
  memoryOptions,
  memoryPersistence,
  type OpenStore,
  type Persistence,
} from "./persistence.ts";
export {
  decodeLists,
  type EngineProgress,
  encodeLists,
  FAST_COMPRESSION,
  formatState,
  type RestoredState,
  readState,
} from "./restored-state.ts";
