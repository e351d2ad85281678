/**
 * Compares the counts of OIQ with the ledger of a provider, for real SDKs and instrumentations. These are not
 * dependencies of the project: the first argument is a folder in which they are installed (`README.md`). The second is
 * the number of calls for each setup, the third a part of the names of setups.
 */
import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { duplicateLlmCalls } from '../../processors/llm/duplicate-llm-calls.ts';
import { llmCalls } from '../../processors/llm/llm-calls.ts';
import { nestedLlmCalls } from '../../processors/llm/nested-llm-calls.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { inputKinds, type LlmCall, type LlmCallRecord, outputKinds, tokenKinds } from '../../schemas/llm-calls.ts';
import { topics } from '../../schemas/topics.ts';
import { parseRequestId, readLlmRequest } from '../../subjects/llm/request.ts';
import { listCalls } from '../../subjects/llm/requests.ts';
import { otlpMessage, TaskRun } from '../cases/run-task.ts';
import { openTables } from '../cases/sink-tables.ts';
import { type LedgerEntry, startProvider } from './llm/provider.ts';

const setups = [
  ['openai', 'opentelemetry'],
  ['openai', 'traceloop'],
  ['openai', 'openinference'],
  ['openai', 'opentelemetry+openinference'],
  ['openai', 'traceloop+openinference'],
  ['openai-responses', 'opentelemetry'],
  ['openai-responses', 'traceloop'],
  ['openai-responses', 'openinference'],
  ['anthropic', 'traceloop-anthropic'],
  ['anthropic', 'openinference-anthropic'],
  ['anthropic', 'traceloop-anthropic+openinference-anthropic'],
  ['langchain', 'opentelemetry'],
  ['langchain', 'traceloop'],
  ['ai', 'own'],
  ['openai-mcp', 'openinference'],
  ['ai-mcp', 'own'],
] as const;

interface Span extends Record<string, unknown> {
  readonly scope: { readonly name: string; readonly version?: string };
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
}

const toRequest = (spans: readonly Span[]): object => ({
  resourceSpans: [
    {
      scopeSpans: spans.map(({ scope, traceId, spanId, parentSpanId, ...span }) => ({
        scope: { name: scope.name, version: scope.version ?? '' },
        spans: [
          {
            ...span,
            traceId: Buffer.from(traceId, 'hex'),
            spanId: Buffer.from(spanId, 'hex'),
            ...(parentSpanId !== '' && { parentSpanId: Buffer.from(parentSpanId, 'hex') }),
          },
        ],
      })),
    },
  ],
});

interface CountedCalls {
  readonly calls: LlmCall[];
  /** Values of the topic of LLM calls. */
  readonly records: readonly LlmCallRecord[];
}

/** Returns the deduplicated calls. */
const countCalls = (spans: readonly Span[]): CountedCalls => {
  const found = new TaskRun(llmCalls);
  const atMs = Date.now();
  found.request('traces', toRequest(spans), { atMs });
  const nested = new TaskRun(nestedLlmCalls);
  nested.values(found.emitted(topics.llmSpans), { atMs });
  const duplicates = new TaskRun(duplicateLlmCalls);
  duplicates.values(nested.emitted(topics.llmResponses), { atMs });
  const calls = new Map<string, { call?: LlmCall; verdicts: { nested: number; duplicate: number } }>();
  const records = [found, nested, duplicates].flatMap((run) => run.emitted<LlmCallRecord>(topics.llmCalls));
  for (const record of records) {
    const key = `${record.traceId} ${record.spanId}`;
    const entry = calls.get(key) ?? { verdicts: { nested: 0, duplicate: 0 } };
    if (record.call !== undefined) entry.call = record.call;
    entry.verdicts.nested = Math.max(entry.verdicts.nested, record.nested ?? 0);
    entry.verdicts.duplicate = Math.max(entry.verdicts.duplicate, record.duplicate ?? 0);
    calls.set(key, entry);
  }
  const counted = [...calls.values()].flatMap(({ call, verdicts }) =>
    call?.kind === 'call' && verdicts.nested % 2 === 0 && verdicts.duplicate % 2 === 0 ? [call] : [],
  );
  return { calls: counted, records };
};

/** Stores spans and calls. Returns how many tool calls of requests have the span that ran the tool. */
const countJoinedTools = async (spans: readonly Span[], records: readonly LlmCallRecord[]): Promise<number> => {
  const tables = await openTables();
  try {
    const tenantId = 'acme';
    const atMs = Date.now();
    const message = { ...otlpMessage('traces', toRequest(spans), { tenantId, atMs }), offset: 0, timestampMs: atMs };
    await tables.land([message], { sink: 'traces' });
    const value = Buffer.from(JSON.stringify(records));
    await tables.land([{ offset: 0, value, headers: { tenant: tenantId }, timestampMs: atMs }], { sink: 'llm-calls' });
    const reader: TenantReader = {
      columns: tables.columns.forTenant(tenantId),
      nowMs: atMs,
      plan: {
        name: 'all',
        entitlements: ['traces', 'logs', 'llm'],
        retentionDays: { logs: 30, metrics: 30, traces: 30 },
      },
    };
    const query = { scope: 'account', sort: '-time', limit: 1_000 } as const;
    let joined = 0;
    for (const { id } of (await listCalls(query, reader)).items) {
      const parsed = parseRequestId(id);
      const request = parsed === undefined ? undefined : await readLlmRequest(reader, parsed, query);
      joined += request?.toolCalls.filter(({ span }) => span !== null).length ?? 0;
    }
    return joined;
  } finally {
    await tables.close();
  }
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const comparedKinds = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;

const compare = (title: string, calls: readonly LlmCall[], ledger: readonly LedgerEntry[], tools: string): void => {
  const succeeded = ledger.filter(({ isFailed }) => !isFailed);
  const kinds = comparedKinds.map((kind) => {
    const counted = sum(calls.map(({ tokens }) => tokens[kind]));
    const used = sum(succeeded.map((entry) => entry[kind]));
    return counted === used ? `${kind} ✓` : `${kind} ${counted} of ${used}`;
  });
  const totals = (
    [
      ['all input', inputKinds, ['input', 'cacheRead', 'cacheWrite']],
      ['all output', outputKinds, ['output', 'reasoning']],
    ] as const
  ).map(([name, counted, used]) => {
    const left = sum(calls.map(({ tokens }) => sum(counted.map((kind) => tokens[kind]))));
    const right = sum(succeeded.map((entry) => sum(used.map((kind) => entry[kind]))));
    return left === right ? `${name} ✓` : `${name} ${left} of ${right}`;
  });
  const failed = calls.filter(({ isFailed }) => isFailed).length;
  const others = tokenKinds.filter((kind) => !(comparedKinds as readonly string[]).includes(kind));
  const extra = sum(calls.map(({ tokens }) => sum(others.map((kind) => tokens[kind]))));
  const requests = calls.length === ledger.length ? 'requests ✓' : `requests ${calls.length} of ${ledger.length}`;
  const failures =
    failed === ledger.length - succeeded.length
      ? 'failed ✓'
      : `failed ${failed} of ${ledger.length - succeeded.length}`;
  const problems = [
    ...new Set(calls.filter(({ isFailed }) => !isFailed).map(({ usageProblem }) => usageProblem)),
  ].filter(Boolean);
  process.stdout.write(
    `${title}: ${[requests, failures, ...kinds, ...totals, ...(extra > 0 ? [`other kinds ${extra}`] : []), ...(tools === '' ? [] : [tools]), ...problems].join(' · ')}\n`,
  );
};

const [folder = '.', count = '44', only = ''] = process.argv.slice(2);
const provider = await startProvider();
copyFileSync(join(import.meta.dirname, 'llm', 'client.cjs'), join(folder, 'client.cjs'));
const runClient = (args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['client.cjs', ...args],
      { cwd: folder, maxBuffer: 1 << 28 },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(stderr.slice(0, 2_000), { cause: error }));
      },
    );
  });
for (const [sdk, instrumentations] of setups) {
  const title = `${sdk} under ${instrumentations}`;
  if (!title.includes(only)) continue;
  try {
    const { spans, toolCalls } = JSON.parse(await runClient([sdk, instrumentations, provider.url, count])) as {
      spans: Span[];
      toolCalls: number;
    };
    const { calls, records } = countCalls(spans);
    const joined = toolCalls === 0 ? 0 : await countJoinedTools(spans, records);
    const tools = toolCalls === 0 ? '' : joined === toolCalls ? `${joined} tools ✓` : `tools ${joined} of ${toolCalls}`;
    compare(title, calls, provider.takeLedger(), tools);
    if (only !== '') process.stdout.write(`${JSON.stringify(spans.slice(0, 6), undefined, 1)}\n`);
  } catch (error) {
    provider.takeLedger();
    process.stdout.write(`${title}: ${String(error)}\n`);
  }
}
provider.close();
