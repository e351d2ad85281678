import { RE2JS } from 're2js';
import type { z } from 'zod';
import { type Assertion, judgeAssertions, type Observation } from '../../subjects/synthetics/assertions.ts';
import { readJsonPath } from '../../subjects/synthetics/json-path.ts';
import { rendered, renderedIn, textsIn } from '../../subjects/synthetics/templates.ts';
import type { HttpStep, http } from '../../subjects/synthetics/types/http.ts';
import { failureOf } from '../failure.ts';
import { askOnce, type HopAnswer, hostOf } from '../http-hop.ts';
import { ownHeadersOf, userAgent } from '../own-headers.ts';
import { PhaseClock, sumOf } from '../phases.ts';
import { type Attempt, mostKept, type Runner, StepFailure, type StepResult } from '../runner.ts';

const redirects = new Set([301, 302, 303, 307, 308]);

/** What a step extracts is no longer than this. */
const mostExtracted = 16_384;

const credentials = ({ authentication }: HttpStep): Readonly<Record<string, string>> => {
  if (authentication === null) return {};
  if (authentication.type === 'bearer') return { authorization: `Bearer ${authentication.token}` };
  const pair = Buffer.from(`${authentication.user}:${authentication.password}`).toString('base64');
  return { authorization: `Basic ${pair}` };
};

const urlOf = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new StepFailure(`${text.slice(0, 200)} is no http or https address`);
  url.username = '';
  url.password = '';
  return url;
};

interface Request {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

const isSameOrigin = (one: URL, other: URL): boolean => one.origin === other.origin;

/** Where a redirect leads, and what may go there: credentials stay with their origin, secrets with their hosts. */
const redirected = (before: Request, answer: HopAnswer, mayCarry: (host: string) => boolean): Request => {
  const location = answer.headers['location']?.[0] ?? '';
  if (!URL.canParse(location, before.url.href))
    throw new StepFailure(`redirects to ${location.slice(0, 200)}, which is no address`);
  const url = urlOf(new URL(location, before.url.href).href);
  const becomesGet =
    (answer.status === 303 && before.method !== 'HEAD') || (answer.status < 303 && before.method === 'POST');
  const method = becomesGet ? 'GET' : before.method;
  const body = becomesGet ? null : before.body;
  if (isSameOrigin(url, before.url)) return { url, method, body, headers: before.headers };
  if (!mayCarry(hostOf(url))) {
    if (body !== null) throw new StepFailure(`redirects a body with a secret to ${url.host}, which it is not bound to`);
    return { url, method, body, headers: {} };
  }
  const headers = Object.entries(before.headers).filter(
    ([name]) => !['authorization', 'cookie'].includes(name.toLowerCase()),
  );
  return { url, method, body, headers: Object.fromEntries(headers) };
};

const follow = async (
  step: HttpStep,
  {
    attempt,
    clock,
    mayCarry,
  }: { readonly attempt: Attempt; readonly clock: PhaseClock; readonly mayCarry: (host: string) => boolean },
): Promise<{ readonly answer: HopAnswer; readonly followed: number; readonly url: URL }> => {
  const own = { 'user-agent': userAgent, ...ownHeadersOf(attempt) };
  const headers = { 'accept-encoding': 'identity', accept: '*/*', ...credentials(step), ...lowered(step.headers) };
  let request: Request = { url: urlOf(step.url), method: step.method, headers, body: step.body };
  if (!mayCarry(hostOf(request.url))) throw new StepFailure(`a secret of it is not bound to ${request.url.host}`);
  for (let followed = 0; ; followed++) {
    const hop = { ...request, headers: { ...request.headers, ...own }, verifyCertificate: step.verifyCertificate };
    const answer = await askOnce(hop, { ...attempt, clock }).catch((error: unknown) => {
      throw failureOf(error, { host: request.url.host, phase: clock.current, signal: attempt.signal });
    });
    if (step.redirects === 0 || !redirects.has(answer.status) || answer.headers['location'] === undefined)
      return { answer, followed, url: request.url };
    if (followed >= step.redirects) throw new StepFailure(`redirects more than ${step.redirects} times`);
    request = redirected(request, answer, mayCarry);
  }
};

const lowered = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const extracted = ({ source, path }: HttpStep['extract'][number], seen: Observation): string | undefined => {
  if (source === 'header') return seen.headers?.[path.toLowerCase()]?.[0];
  if (source === 'json') {
    const read = readJsonPath(path);
    try {
      const [value] = typeof read === 'string' ? [] : read.valuesIn(JSON.parse(seen.body ?? ''));
      return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
    } catch {
      return undefined;
    }
  }
  const matcher = RE2JS.compile(path, RE2JS.DOTALL).matcher(seen.body ?? '');
  if (!matcher.find()) return undefined;
  return matcher.group(matcher.groupCount() > 0 ? 1 : 0) ?? undefined;
};

const usual: Assertion = { source: 'status', operator: 'lt', value: 400, level: 'fail' };

const judged = (assertions: readonly Assertion[], seen: Observation) =>
  judgeAssertions(assertions.some(({ source }) => source === 'status') ? assertions : [usual, ...assertions], seen);

const runStep = async (written: HttpStep, values: Record<string, string>, attempt: Attempt): Promise<StepResult> => {
  const clock = new PhaseClock('lookup');
  const told = { name: written.name };
  try {
    const at = { variables: attempt.variables, values, nowMs: Date.now() };
    const { assertions, extract, ...sent } = written;
    const texts = textsIn(sent).map(({ text }) => text);
    const step = { ...renderedIn(sent, at), assertions, extract };
    const { answer, followed } = await follow(step, {
      attempt,
      clock,
      mayCarry: (host) => attempt.mayCarry(texts, host),
    });
    const phases = clock.phases();
    const { certificate, body, ...plain } = answer;
    const text = body.toString('utf8');
    const seen: Observation = {
      ...{ status: plain.status, headers: plain.headers, body: text, size: body.length, protocol: plain.protocol },
      ...{ durationMs: sumOf(phases), phases, redirects: followed },
      ...(certificate !== undefined && { certificate }),
    };
    for (const each of extract) {
      const value = extracted(each, seen);
      if (value === undefined) throw new StepFailure(`${each.source} ${each.path} is absent: there is no ${each.as}`);
      values[each.as] = value.slice(0, mostExtracted);
    }
    const asked = assertions.map((one) =>
      typeof one.value === 'string' ? { ...one, value: rendered(one.value, { ...at, values }) } : one,
    );
    const { outcome, messages } = judged(asked, seen);
    const kept = outcome === 'failed' ? { body: body.subarray(0, mostKept).toString('utf8') } : {};
    return { ...told, outcome, phases, message: messages.join('; '), status: plain.status, ...kept };
  } catch (error) {
    const { message, outcome } = failureOf(error, { host: 'it', phase: clock.current, signal: attempt.signal });
    return { ...told, outcome, phases: clock.phases(), message };
  }
};

export const runHttp: Runner<z.output<(typeof http)['settings']>> = async ({ steps }, attempt) => {
  const values: Record<string, string> = {};
  const results: StepResult[] = [];
  for (const step of steps) {
    const result = await runStep(step, values, attempt);
    results.push(result);
    if (result.outcome === 'failed' || result.outcome === 'unknown') break;
  }
  return results;
};
