export { storedEntry, type StoredEntryFields } from "./stored-entry.js";
