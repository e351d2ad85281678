/** Requests of commands to the API of a running installation, with a token. */
import { z } from 'zod';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

type Environment = CommandContext['environment'];

/** Returns the specified address; default: the address of the installation on this machine. */
export const resolveApiAddress = (api: string | undefined, environment: Environment): string =>
  api ?? `http://${environment['OIQ_HTTP_ADDRESS'] ?? '127.0.0.1:8080'}`;

/** Returns the token in a variable; throws a usage error with the help if it is missing. */
export const requireToken = (environment: Environment, variable: string, help: string): string => {
  const token = environment[variable];
  if (token === undefined || token === '') throw new UsageError(`${variable} is not set\n\n${help}`);
  return token;
};

interface RequestOptions {
  readonly token: string;
  /** Timeout of the response in milliseconds */
  readonly timeoutMs: number;
  readonly method?: string;
  /** Sent as JSON */
  readonly body?: object | undefined;
  /** Sent instead, as a zip archive */
  readonly archive?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the response with any status; throws an error with the origin if there is no response. */
export const sendRequest = (
  url: URL,
  { token, timeoutMs, method = 'GET', body, archive, headers = {} }: RequestOptions,
): Promise<Response> =>
  fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(archive !== undefined && { 'content-type': 'application/zip' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(archive !== undefined && { body: Buffer.from(archive) }),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: Error) => {
    const cause = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`${url.origin}: ${cause}`, { cause: error });
  });

/** The API rejected a request. */
export class RejectedRequestError extends Error {
  readonly status: number;
  /** Error message of the API, if any */
  readonly reason: string;

  constructor(description: string, status: number, body: string) {
    super(`${description} returned ${status}: ${body.slice(0, 500)}`);
    this.status = status;
    this.reason = parseErrorReason(body);
  }
}

const ErrorBody = z.looseObject({
  message: z.string(),
  details: z.array(z.looseObject({ path: z.string(), message: z.string() })).default([]),
});

const parseErrorReason = (body: string): string => {
  const { success, data } = ErrorBody.safeParse(parseJson(body));
  if (!success) return body.slice(0, 500);
  const [first] = data.details;
  if (first === undefined) return data.message;
  // Some messages contain the field name already.
  return first.message.startsWith(`${first.path}: `) ? first.message : `${first.path}: ${first.message}`;
};

const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

/**
 * Returns the JSON of a response; throws a `RejectedRequestError` with the message of a rejection. `description` describes the request.
 */
export const readAcceptedJson = async (response: Response, description: string): Promise<unknown> => {
  if (!response.ok) throw new RejectedRequestError(description, response.status, await response.text());
  return response.json();
};
