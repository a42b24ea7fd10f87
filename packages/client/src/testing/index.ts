export { asSeq, describeReplica } from "./describe-replica.js";
export type {
  ReplicaBatch,
  ReplicaRow,
  ReplicaSuite,
  ReplicaUnderTest,
} from "./describe-replica.js";
