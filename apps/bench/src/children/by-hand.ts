import { CounterByHand } from "../yardsticks/counter-by-hand.js";
import { answer, say } from "./answer.js";

/** The durable counter by hand, on the file that it is given. */
const server = await CounterByHand.listen(process.argv[2] ?? "");
answer(() => server.close());
say({ socketUrl: server.socketUrl });
