/** A page of metrics as a reader takes it: by name, with the samples by their labels' text. */
export interface MetricsPage {
  readonly types: ReadonlyMap<string, string>;
  readonly help: ReadonlyMap<string, string>;
  readonly samples: ReadonlyMap<string, number>;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*(?:\{(?:[a-z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*\})?) (\S+)$/u;

/** @throws where a line is none of the format */
export function readMetricsPage(text: string): MetricsPage {
  const types = new Map<string, string>();
  const help = new Map<string, string>();
  const samples = new Map<string, number>();
  for (const line of text.split("\n").slice(0, -1)) {
    const [, comment, name = "", words = ""] = /^# (HELP|TYPE) (\S+) (.+)$/u.exec(line) ?? [];
    if (comment !== undefined) {
      (comment === "HELP" ? help : types).set(name, words);
      continue;
    }
    const sample = SAMPLE.exec(line);
    if (sample === null) throw new Error(`no line of the format: ${line}`);
    samples.set(sample[1] ?? "", Number(sample[2]));
  }
  return { types, help, samples };
}
