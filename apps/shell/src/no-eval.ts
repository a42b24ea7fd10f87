import { config } from "zod";

// The page's own policy forbids making code from text. zod asks whether it may as soon as a schema is declared, so this
// module is imported before every other.
config({ jitless: true });
