/** Requests of commands to the API of a running installation, with a token. */
import { z } from 'zod';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

type Environment = CommandContext['environment'];

/** The address that was given, else that of the installation on this machine. */
export const apiAddress = (api: string | undefined, environment: Environment): string =>
  api ?? `http://${environment['OIQ_HTTP_ADDRESS'] ?? '127.0.0.1:8080'}`;

/** The token of a variable; without it, a usage error with the help. */
export const tokenIn = (environment: Environment, variable: string, help: string): string => {
  const token = environment[variable];
  if (token === undefined || token === '') throw new UsageError(`${variable} is not set\n\n${help}`);
  return token;
};

interface Sent {
  readonly token: string;
  /** Milliseconds until the answer. */
  readonly answerMs: number;
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer, whatever its status; throws with the origin where there is none. */
export const send = (url: URL, { token, answerMs, method = 'GET', body, headers = {} }: Sent): Promise<Response> =>
  fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(answerMs),
  }).catch((error: Error) => {
    const cause = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`${url.origin}: ${cause}`, { cause: error });
  });

/** What a request was answered that was not accepted. */
export class RefusedError extends Error {
  readonly status: number;
  /** What the API says of it, where it says something. */
  readonly reason: string;

  constructor(what: string, status: number, body: string) {
    super(`${what} was answered ${status}: ${body.slice(0, 500)}`);
    this.status = status;
    this.reason = reasonIn(body);
  }
}

const Refusal = z.looseObject({
  message: z.string(),
  details: z.array(z.looseObject({ path: z.string(), message: z.string() })).default([]),
});

const reasonIn = (body: string): string => {
  const { success, data } = Refusal.safeParse(jsonIn(body));
  if (!success) return body.slice(0, 500);
  const [first] = data.details;
  if (first === undefined) return data.message;
  // Some name the field themselves.
  return first.message.startsWith(`${first.path}: `) ? first.message : `${first.path}: ${first.message}`;
};

const jsonIn = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

/** The JSON of an answer; throws what a refusal says (`RefusedError`). `what` names the request. */
export const accepted = async (response: Response, what: string): Promise<unknown> => {
  if (!response.ok) throw new RefusedError(what, response.status, await response.text());
  return response.json();
};
