/** `@tidemark/memory-engine`: the SQLite store of one space, and the memory server over such stores. */
export { openEngine } from "./engine.js";
export type {
  BasisInstance,
  BasisTable,
  BranchInfo,
  BranchTable,
  CommitMeta,
  Engine,
  EngineOptions,
  EngineTx,
  EntryProgress,
  EntryTable,
  ForeignBasisRow,
  HistoryOptions,
  LeaseRow,
  LeaseTable,
  ListedDocument,
  ListOptions,
  NewStreamEntry,
  ReadOptions,
  ReplayKey,
  ReplayVerdict,
  ResolvedPrecondition,
  ResolvedRead,
  Revision,
  StoredBasisRead,
} from "./engine-types.js";
export { DEFAULT_COMPACTION_POLICY, DEFAULT_PRUNE_POLICY } from "./compaction/policy.js";
export type {
  CompactionPolicy,
  CompactionResult,
  PrunePolicy,
  PruneResult,
} from "./compaction/policy.js";
export type {
  ExtensionDb,
  ExtensionMigration,
  ExtensionTx,
  StoreExtension,
} from "./extension/extension.js";
export type {
  CheckpointMode,
  CheckpointResult,
  Durability,
  SqlDriver,
  SqlValue,
  Stmt,
  TransactionMode,
} from "./sqlite/driver.js";
export { openBetterSqlite3, type BetterSqlite3Options } from "./sqlite/better-sqlite3.js";
export { STORE_VERSION } from "./migrations/migrate.js";
export { linkedNodes } from "./piece/piece-index.js";
// The memory server's exports follow below this line.
export { MemoryServer } from "./server/memory-server.js";
export { DEFAULT_SERVER_POLICY, type ServerPolicy } from "./server/policy.js";
export type { MemoryServerStats, PushStats, ServerCounts } from "./server/stats.js";
export type { AccessRequest } from "./server/admission/access.js";
export type { DirectRequest } from "./server/derived/direct.js";
export type {
  AccessVerdict,
  AdmissionNotice,
  DemandCause,
  DemandNews,
  DemandShare,
  DerivedOptions,
  DerivedPlan,
  DerivedVerdict,
  DirectVerdict,
  FeedOptions,
  MemoryServerOptions,
  ServedSpace,
  ServerLog,
  SessionRef,
  StoreProvider,
  Subscription,
  SystemPlan,
} from "./server/types.js";
export { folderStores, type FolderStoresOptions, storeFileOf } from "./sqlite/folder-stores.js";
