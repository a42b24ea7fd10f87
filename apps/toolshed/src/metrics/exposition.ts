/** The content type of the text format of Prometheus that {@link renderMetrics} writes. */
export const METRICS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** One value of a metric. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** One metric with its samples. */
export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  /** One sentence for the reader. */
  readonly help: string;
  readonly samples: readonly Sample[];
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/u;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/u;

/**
 * Metrics in the text format of Prometheus, in the order given. A metric without a sample is left out.
 *
 * @throws RangeError for a name that the format does not have, or that stands twice: a reader would drop the whole page.
 */
export function renderMetrics(metrics: readonly Metric[]): string {
  const seen = new Set<string>();
  let text = "";
  for (const metric of metrics) {
    if (!METRIC_NAME.test(metric.name) || seen.has(metric.name)) {
      throw new RangeError(`"${metric.name}" is no metric's name, or stands twice`);
    }
    seen.add(metric.name);
    if (metric.samples.length > 0) text += renderMetric(metric);
  }
  return text;
}

function renderMetric({ name, type, help, samples }: Metric): string {
  const lines = samples.map(
    ({ labels, value }) => `${name}${renderLabels(labels)} ${renderValue(value)}\n`,
  );
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function renderLabels(labels: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    if (!LABEL_NAME.test(name)) throw new RangeError(`"${name}" is no label's name`);
    return `${name}="${escapeLabel(value)}"`;
  });
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

function renderValue(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
