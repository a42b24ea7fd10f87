import { expect, test } from "vitest";
import { readConfig } from "../src/config/config.js";

test("without options there is a port, an address of this machine alone, and a folder", () => {
  const request = readConfig([], {});
  expect(request).toMatchObject({
    kind: "run",
    config: {
      port: 8000,
      host: "127.0.0.1",
      dataDir: ".tidemark",
      durability: "normal",
      demo: true,
    },
  });
});

test("a flag wins over its environment variable", () => {
  const request = readConfig(["--port", "9001", "--data-dir", "/a"], {
    PORT: "9000",
    DATA_DIR: "/b",
    HOST: "::1",
  });
  expect(request).toMatchObject({
    kind: "run",
    config: { port: 9001, dataDir: "/a", host: "::1" },
  });
});

test.each([
  [["--port", "70000"], {}, "--port (PORT) is 0 to 65535"],
  [["--port", "65536"], {}, "--port (PORT) is 0 to 65535"],
  [["--port", "9".repeat(400)], {}, "--port (PORT) is 0 to 65535"],
  [[], { PORT: "" }, "--port (PORT) is a number, and is empty"],
  [["--port", " "], { PORT: "8000" }, "--port (PORT) is a number, and is empty"],
  [["--durability", "best"], {}, "--durability (DURABILITY) is normal or full"],
  [["--data-dir", ""], {}, "--data-dir (DATA_DIR) is a path"],
  [["--bogus"], {}, "--bogus"],
  [["stray"], {}, "stray"],
])("[TS-T2] %j with %j is refused in words that name it", (argv, env, words) => {
  const request = readConfig(argv, env);
  expect(request.kind).toBe("invalid");
  expect(request.kind === "invalid" && request.problems.join(" ")).toContain(words);
});

test.each(["soon", "1.5", "0x50", "1e2", "0b1", "+80", "-1", "8_000", "80 81", "\u0661"])(
  "[TS-T2] %j is no port, as a flag and as a variable",
  (text) => {
    const problems = ["--port (PORT) is a whole number, in decimal digits"];
    expect(readConfig([`--port=${text}`], {})).toEqual({ kind: "invalid", problems });
    expect(readConfig([], { PORT: text })).toEqual({ kind: "invalid", problems });
  },
);

test.each([
  ["0", 0],
  ["65535", 65_535],
  [" 80 ", 80],
])("the port %j is %d", (text, port) => {
  expect(readConfig([], { PORT: text })).toMatchObject({ kind: "run", config: { port } });
});

test("--help teaches every option and runs nothing", () => {
  const request = readConfig(["--help", "--port", "soon"], {});
  expect(request.kind === "help" && request.text).toMatch(
    /--port.*PORT[\s\S]*--data-dir.*DATA_DIR/u,
  );
  expect(request.kind === "help" && request.text).toContain("there and empty is refused");
});

test("a flush deadline that does not parse keeps the bound and warns", () => {
  expect(readConfig([], { SERVER_EXECUTION_FLUSH_DEADLINE_MS: "-1" })).toMatchObject({
    config: { flushDeadlineMs: 100 },
    warnings: [expect.stringContaining("SERVER_EXECUTION_FLUSH_DEADLINE_MS=-1")],
  });
  expect(readConfig([], { SERVER_EXECUTION_FLUSH_DEADLINE_MS: "50" })).toMatchObject({
    config: { flushDeadlineMs: 50 },
    warnings: [],
  });
});

test("the time to live of a lease is tuned the same way", () => {
  expect(readConfig([], { SERVER_EXECUTION_LEASE_TTL_MS: "0" })).toMatchObject({
    config: { leaseTtlMs: 15_000 },
    warnings: [expect.stringContaining("SERVER_EXECUTION_LEASE_TTL_MS=0")],
  });
  expect(readConfig([], { SERVER_EXECUTION_LEASE_TTL_MS: "900" })).toMatchObject({
    config: { leaseTtlMs: 900 },
    warnings: [],
  });
});

test("[TS-T1] the retention of parked runtimes is ten minutes, the literal 0 keeps none, and a typo keeps the bound", () => {
  const read = (text: string) =>
    readConfig([], { SERVER_EXECUTION_PARKED_RUNTIME_RETENTION_MS: text });
  expect(readConfig([], {})).toMatchObject({ config: { parkedRuntimeRetentionMs: 600_000 } });
  expect(read("0")).toMatchObject({ config: { parkedRuntimeRetentionMs: 0 }, warnings: [] });
  expect(read("900")).toMatchObject({ config: { parkedRuntimeRetentionMs: 900 }, warnings: [] });
  for (const text of ["0.0", "-1", "never"]) {
    expect(read(text)).toMatchObject({
      config: { parkedRuntimeRetentionMs: 600_000 },
      warnings: [expect.stringContaining(`RETENTION_MS=${text}`)],
    });
  }
});

test("[TS-T1] reading through to the store is off but for the word true", () => {
  const read = (text: string) => readConfig([], { SERVER_EXECUTION_STORE_READ_THROUGH: text });
  expect(readConfig([], {})).toMatchObject({ config: { storeReadThrough: false }, warnings: [] });
  expect(read("true")).toMatchObject({ config: { storeReadThrough: true }, warnings: [] });
  expect(read("false")).toMatchObject({ config: { storeReadThrough: false }, warnings: [] });
  expect(read("yes")).toMatchObject({
    config: { storeReadThrough: false },
    warnings: [expect.stringContaining("STORE_READ_THROUGH=yes")],
  });
});
