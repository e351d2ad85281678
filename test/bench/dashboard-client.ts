/** The client of `dashboards.ts` in its own process: sends queries, and returns digests or times of the responses. */
import { createHash } from 'node:crypto';

interface Question {
  readonly url: string;
  readonly token: string;
  readonly body: string;
  /** Series of each panel. */
  readonly zones: number;
  /** Whether the response has one line per panel. */
  readonly inLines?: boolean;
}

interface Item {
  readonly error: { readonly message: string } | null;
  readonly results: {
    readonly A: { readonly series: readonly { readonly labels: unknown; readonly points: unknown }[] };
  };
}

const digestOf = async ({ url, token, body, zones }: Question): Promise<string> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(await response.text());
  const { items } = (await response.json()) as { readonly items: readonly Item[] };
  const digest = createHash('sha256');
  for (const { error, results } of items) {
    if (error !== null || results.A.series.length !== zones) throw new Error(error?.message ?? 'other series');
    for (const { labels, points } of results.A.series) digest.update(JSON.stringify([labels, points]));
  }
  return digest.digest('hex');
};

/** Milliseconds until the first panel and until the last panel. */
const linesOf = async ({ url, token, body, zones }: Question): Promise<readonly [first: number, last: number]> => {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/x-ndjson',
  };
  const started = performance.now();
  const response = await fetch(url, { method: 'POST', headers, body });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  let [text, first] = ['', 0];
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (first === 0 && text.includes('"panelId"')) first = performance.now() - started;
  }
  const last = performance.now() - started;
  for (const line of text.trimEnd().split('\n')) {
    const item = JSON.parse(line) as Partial<Item>;
    if (item.results !== undefined && item.results.A.series.length !== zones)
      throw new Error(item.error?.message ?? 'other series');
  }
  return [first, last];
};

process.on('message', async (question: Question) => {
  try {
    process.send?.(question.inLines ? { lines: await linesOf(question) } : { digest: await digestOf(question) });
  } catch (error) {
    process.send?.({ error: String(error) });
  }
});
