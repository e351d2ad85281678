import type { z } from 'zod';
import { type Assertion, judgeAssertions, type Observation } from '../../subjects/synthetics/assertions.ts';
import { truncate } from '../../subjects/synthetics/cut.ts';
import { writeExactJson } from '../../subjects/synthetics/json.ts';
import { readJsonValues, readXmlValues } from '../../subjects/synthetics/response-documents.ts';
import { listTexts, renderAll, renderText } from '../../subjects/synthetics/templates.ts';
import { type HttpStep, type http, splitCredentials } from '../../subjects/synthetics/types/http.ts';
import { usedValues } from '../bound-secrets.ts';
import { Cookies } from '../cookies.ts';
import { extractValue, type FoundValue, findAll, findPattern } from '../extract-value.ts';
import { toStepFailure } from '../failure.ts';
import {
  getUrlHost,
  type HopResponse,
  parseHttpUrl,
  requireBoundSecrets,
  sendOnce,
  toBodyExcerpt,
} from '../http-hop.ts';
import { createRunHeaders, lowerCaseNames, userAgent } from '../own-headers.ts';
import { PhaseClock, sumDurations } from '../phases.ts';
import { decodeText } from '../response-content.ts';
import { type Attempt, type Runner, StepFailure, type StepResult } from '../runner.ts';
import { AccessTokens } from './access-tokens.ts';

const redirects = new Set([301, 302, 303, 307, 308]);

/** A step in the form to send: its access token was already fetched. */
type AuthenticatedStep = Omit<HttpStep, 'authentication'> & {
  readonly authentication: Exclude<HttpStep['authentication'], { readonly type: 'oauth2' }>;
};

const createAuthorizationHeader = ({ authentication }: AuthenticatedStep): Readonly<Record<string, string>> => {
  if (authentication === null) return {};
  if (authentication.type === 'bearer') return { authorization: `Bearer ${authentication.token}` };
  const pair = Buffer.from(`${authentication.user}:${authentication.password}`).toString('base64');
  return { authorization: `Basic ${pair}` };
};

interface Request {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly clientCertificate: HttpStep['clientCertificate'];
}

const isSameOrigin = (left: URL, right: URL): boolean => left.origin === right.origin;

/**
 * Target of a redirect, and the allowed headers: credentials are only sent to the same origin, secrets only to their
 * hosts.
 */
const createRedirectRequest = (
  previousRequest: Request,
  response: HopResponse,
  mayCarry: (host: string) => boolean,
): Request => {
  const location = response.headers['location']?.[0] ?? '';
  if (!URL.canParse(location, previousRequest.url.href))
    throw new StepFailure(`redirects to ${truncate(location, 200)}, which is not a valid address`);
  const url = parseHttpUrl(new URL(location, previousRequest.url.href).href);
  const shouldBecomeGet =
    (response.status === 303 && previousRequest.method !== 'HEAD') ||
    (response.status < 303 && previousRequest.method === 'POST');
  const method = shouldBecomeGet ? 'GET' : previousRequest.method;
  const body = shouldBecomeGet ? null : previousRequest.body;
  if (isSameOrigin(url, previousRequest.url)) return { ...previousRequest, url, method, body };
  if (!mayCarry(getUrlHost(url))) {
    if (body !== null) throw new StepFailure(`redirects a body with a secret to ${url.host}, which it is not bound to`);
    return { url, method, body, headers: {}, clientCertificate: null };
  }
  const headers = Object.entries(previousRequest.headers).filter(
    ([name]) => !['authorization', 'cookie', 'host'].includes(name),
  );
  return { url, method, body, headers: Object.fromEntries(headers), clientCertificate: null };
};

const sendFollowingRedirects = async (
  step: AuthenticatedStep,
  {
    attempt,
    clock,
    values,
    cookies,
    mayCarry,
  }: {
    readonly attempt: Attempt;
    readonly clock: PhaseClock;
    /** Extracted values in the step */
    readonly values: readonly string[];
    /** Undefined if they are not stored */
    readonly cookies: Cookies | undefined;
    readonly mayCarry: (host: string) => boolean;
  },
): Promise<{
  readonly response: HopResponse;
  readonly redirectCount: number;
  readonly method: string;
  readonly url: URL;
}> => {
  const runHeaders = createRunHeaders(attempt);
  const headers = {
    'user-agent': userAgent,
    'accept-encoding': 'identity',
    accept: '*/*',
    ...createAuthorizationHeader(step),
    ...lowerCaseNames(step.headers),
  };
  const { method, body, clientCertificate } = step;
  let request: Request = { url: parseHttpUrl(step.url), method, headers, body, clientCertificate };
  if (!mayCarry(getUrlHost(request.url)))
    throw new StepFailure(`a secret of the check is not bound to ${request.url.host}`);
  for (let redirectCount = 0; ; redirectCount++) {
    const cookie = cookies?.header(request.url, request.headers['cookie']) ?? '';
    const requestFields = { ...request, headers: { ...request.headers, ...(cookie !== '' && { cookie }) } };
    requireBoundSecrets(requestFields, values, attempt);
    const hop = {
      ...requestFields,
      headers: { ...requestFields.headers, ...runHeaders },
      verifyCertificate: step.verifyCertificate,
    };
    const response = await sendOnce(hop, { ...attempt, clock }).catch((error: unknown) => {
      throw toStepFailure(error, { host: request.url.host, phase: clock.current, signal: attempt.signal });
    });
    cookies?.store(request.url, response.headers['set-cookie'] ?? []);
    if (step.redirects === 0 || !redirects.has(response.status) || response.headers['location'] === undefined)
      return { response, redirectCount, method: request.method, url: request.url };
    if (redirectCount >= step.redirects) throw new StepFailure(`redirects more than ${step.redirects} times`);
    request = createRedirectRequest(request, response, mayCarry);
  }
};

const readJsonValue = (path: string, observation: Observation): string | undefined => {
  const [value] = readJsonValues(path, observation);
  return value === undefined || typeof value === 'string' ? value : writeExactJson(value);
};

const readXmlValue = (path: string, observation: Observation): string | undefined => {
  const values = readXmlValues(path, observation, 1);
  if (typeof values === 'string') throw new StepFailure(`xml ${path} ${values}`);
  return values[0] === undefined ? undefined : String(values[0]);
};

/** Returns the value of a response, with the text that contains it. */
const findValue = ({ source, path }: HttpStep['extract'][number], observation: Observation): FoundValue | undefined => {
  if (source === 'body') return findPattern(observation.body ?? '', path);
  const text =
    source === 'header'
      ? observation.headers?.[path.toLowerCase()]?.[0]
      : source === 'xml'
        ? readXmlValue(path, observation)
        : readJsonValue(path, observation);
  return text === undefined ? undefined : findAll(text);
};

const defaultAssertion: Assertion = { source: 'status', operator: 'lt', value: 400, level: 'fail' };

/** Without an assertion on the status, it must be below 400. */
export const checkAssertions = (assertions: readonly Assertion[], observation: Observation) =>
  judgeAssertions(
    assertions.some(({ source }) => source === 'status') ? assertions : [defaultAssertion, ...assertions],
    observation,
  );

interface StepContext {
  readonly values: Record<string, string>;
  readonly cookies: Cookies | undefined;
  readonly attempt: Attempt;
}

/** Maximum number of headers in a report */
const maxHeaders = 40;

const maskCookies = (value: string): string => value.replace(/=[^;]*/, '=********');

/** Request headers are not part of it, because they may contain credentials. */
const toExchange = ({
  response,
  method,
  url,
}: {
  readonly response: HopResponse;
  readonly method: string;
  readonly url: URL;
}): NonNullable<StepResult['exchange']> => ({
  method,
  url: url.href,
  protocol: response.protocol,
  headers: Object.fromEntries(
    Object.entries(response.headers)
      .slice(0, maxHeaders)
      .map(([name, values]) => [name, (name === 'set-cookie' ? values.map(maskCookies) : values).join(', ')]),
  ),
  body: toBodyExcerpt(response),
});

/** Runs a step with rendered texts. `texts` are those for its address, as written. */
const runAuthenticated = async (
  step: AuthenticatedStep,
  { texts, values, cookies, attempt }: StepContext & { readonly texts: readonly string[] },
): Promise<StepResult> => {
  const clock = new PhaseClock('lookup');
  const base = { name: step.name };
  try {
    const { response, redirectCount, method, url } = await sendFollowingRedirects(step, {
      attempt,
      clock,
      cookies,
      values: usedValues(texts, values),
      mayCarry: (host) => attempt.canSendTo(texts, host),
    });
    const phases = clock.phases();
    const { certificate, body, charset, cut, ...responseFields } = response;
    const observation: Observation = {
      status: responseFields.status,
      headers: responseFields.headers,
      body: decodeText(body, charset, { isTruncated: cut !== undefined }),
      size: responseFields.size,
      cut,
      protocol: responseFields.protocol,
      durationMs: sumDurations(phases),
      phases,
      redirects: redirectCount,
      ...(certificate !== undefined && { certificate }),
    };
    for (const each of step.extract) {
      if (cut !== undefined && each.source !== 'header')
        throw new StepFailure(`only the first ${cut.readBytes} bytes of the answer are read: ${each.as} is not set`);
      const extractedValue = findValue(each, observation);
      if (extractedValue === undefined)
        throw new StepFailure(`${each.source} ${each.path} is absent: ${each.as} is not set`);
      values[each.as] = extractValue(extractedValue, each, attempt);
    }
    const templateContext = attempt.getTemplateValues(values);
    const renderedAssertions = step.assertions.map((one) =>
      typeof one.value === 'string' ? { ...one, value: renderText(one.value, templateContext) } : one,
    );
    const { outcome, messages, results } = checkAssertions(renderedAssertions, observation);
    const reportFields = {
      ...(outcome === 'failed' && { body: toBodyExcerpt(response) }),
      assertions: results,
      exchange: toExchange({ response, method, url }),
      ...(certificate !== undefined && { certificate }),
    };
    return { ...base, outcome, phases, message: messages.join('; '), status: responseFields.status, ...reportFields };
  } catch (error) {
    const { message, outcome } = toStepFailure(error, { host: 'it', phase: clock.current, signal: attempt.signal });
    return { ...base, outcome, phases: clock.phases(), message };
  }
};

const isOver = ({ outcome }: StepResult): boolean => outcome === 'failed' || outcome === 'unknown';

const listTextValues = (part: object): readonly string[] => listTexts(part).map(({ text }) => text);

/** Runs a step, after the step that fetches its access token; adds their results. */
const runStep = async (
  stepTemplate: HttpStep,
  { tokens, ...given }: StepContext & { readonly tokens: AccessTokens },
): Promise<readonly StepResult[]> => {
  const { values, attempt } = given;
  const { assertions, extract, ...requestFields } = stepTemplate;
  const { own: stepFields, client } = splitCredentials(requestFields);
  try {
    const { authentication, ...step } = {
      ...renderAll(requestFields, attempt.getTemplateValues(values)),
      assertions,
      extract,
    };
    const context = { ...given, texts: listTextValues(stepFields) };
    if (authentication?.type !== 'oauth2') return [await runAuthenticated({ ...step, authentication }, context)];
    const clientTexts = listTextValues(client ?? {});
    const { token, results } = await tokens.get(authentication, {
      texts: clientTexts,
      values: usedValues(clientTexts, values),
    });
    if (token === undefined) return results;
    return [...results, await runAuthenticated({ ...step, authentication: { type: 'bearer', token } }, context)];
  } catch (error) {
    const { message, outcome } = toStepFailure(error, { host: 'it', phase: 'lookup', signal: attempt.signal });
    return [{ name: stepTemplate.name, outcome, phases: {}, message }];
  }
};

export const runHttp: Runner<z.output<(typeof http)['settings']>> = async ({ steps, storeCookies }, attempt) => {
  const values: Record<string, string> = {};
  const tokens = new AccessTokens(attempt);
  const cookies = storeCookies ? new Cookies() : undefined;
  const results: StepResult[] = [];
  for (const step of steps) {
    results.push(...(await runStep(step, { values, cookies, attempt, tokens })));
    if (results.some(isOver)) break;
  }
  return results;
};
