export {
  ChildClock,
  VirtualClock,
  type ChildClockOptions,
  type ClockOwner,
  type VirtualClockOptions,
} from "./virtual-clock.js";
