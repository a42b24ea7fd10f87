export { asUser, stage, type Stage } from "./stage.js";
