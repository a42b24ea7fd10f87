import { expect, test } from "vitest";
import { type Metric, renderMetrics } from "../../src/metrics/exposition.js";

const metric = (changes: Partial<Metric> = {}): Metric => ({
  name: "tidemark_waves_total",
  type: "counter",
  help: "Waves closed.",
  samples: [{ value: 3 }],
  ...changes,
});

test("[TS-M4] a metric is its help, its type and a line per sample", () => {
  const samples = [
    { labels: { class: "value-only", quantile: "0.5" }, value: 0.25 },
    { labels: {}, value: 7 },
  ];
  const gauge = metric({ name: "tidemark_settle_seconds", type: "gauge", help: "Times.", samples });
  expect(renderMetrics([metric(), gauge])).toBe(
    "# HELP tidemark_waves_total Waves closed.\n" +
      "# TYPE tidemark_waves_total counter\n" +
      "tidemark_waves_total 3\n" +
      "# HELP tidemark_settle_seconds Times.\n" +
      "# TYPE tidemark_settle_seconds gauge\n" +
      'tidemark_settle_seconds{class="value-only",quantile="0.5"} 0.25\n' +
      "tidemark_settle_seconds 7\n",
  );
});

test("[TS-M4] backslashes, quotes and ends of lines are escaped, in help and in labels each its way", () => {
  const odd = 'a\\b"c\nd{e="f"} # G';
  const text = renderMetrics([metric({ help: odd, samples: [{ labels: { at: odd }, value: 1 }] })]);
  expect(text.split("\n")).toEqual([
    '# HELP tidemark_waves_total a\\\\b"c\\nd{e="f"} # G',
    "# TYPE tidemark_waves_total counter",
    'tidemark_waves_total{at="a\\\\b\\"c\\nd{e=\\"f\\"} # G"} 1',
    "",
  ]);
});

test.each([
  [Number.NaN, "NaN"],
  [Number.POSITIVE_INFINITY, "+Inf"],
  [Number.NEGATIVE_INFINITY, "-Inf"],
  [1e21, "1e+21"],
  [-0.5, "-0.5"],
  [0, "0"],
])("[TS-M4] the value %s is written as the format spells it", (value, spelled) => {
  expect(renderMetrics([metric({ samples: [{ value }] })])).toContain(
    `\ntidemark_waves_total ${spelled}\n`,
  );
});

test("[TS-M4] a metric without samples is left out", () => {
  expect(renderMetrics([metric({ samples: [] })])).toBe("");
});

test.each([
  ["a name with a dash", [metric({ name: "a-b" })]],
  ["a name that begins with a digit", [metric({ name: "1a" })]],
  ["a name that stands twice", [metric(), metric()]],
  ["a label with a dash", [metric({ samples: [{ labels: { "a-b": "c" }, value: 1 }] })]],
])("[TS-M4] %s is an error, not a page that nobody can read", (_name, metrics) => {
  expect(() => renderMetrics(metrics)).toThrow(RangeError);
});
