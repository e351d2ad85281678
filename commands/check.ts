/** `oiq check`: sends a log record like a sender, and reads it back like a user. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parseSettings } from '../schemas/settings.ts';
import { parseOptions } from './command-arguments.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq check [--otlp URL] [--api URL] [--seconds 60]

Sends a log record and reads it back through the API. It signs in as the first owner (OIQ_BOOTSTRAP_EMAIL,
OIQ_BOOTSTRAP_PASSWORD) and creates a license key, which it revokes. If that password was changed, set CHECK_LICENSE_KEY and
CHECK_TOKEN (an API token with the scope logs:read) in the environment.
`;

const options = {
  otlp: { type: 'string' },
  api: { type: 'string' },
  seconds: { type: 'string', default: '60' },
  help: { type: 'boolean', short: 'h' },
} as const;

const pauseMs = 500;
const requestTimeoutMs = 60_000;

/** Adds the request to its error messages. */
const request = async (url: string, init: RequestInit = {}): Promise<Response> => {
  const description = `${init.method ?? 'GET'} ${url}`;
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(requestTimeoutMs) }).catch(
    (error: Error) => {
      const cause = error.cause instanceof Error ? error.cause.message : error.message;
      throw new Error(`${description}: ${cause}`, { cause: error });
    },
  );
  if (!response.ok)
    throw new Error(`${description} returned ${response.status}: ${(await response.text()).slice(0, 500)}`);
  return response;
};

const post = async <Body>(url: string, body: object, headers: Record<string, string> = {}): Promise<Body> => {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  return (await (await request(url, init)).json()) as Body;
};

interface Credentials {
  readonly licenseKey: string;
  readonly token: string;
  /** Removes everything that was created for this check. */
  release(): Promise<void>;
}

const createCredentials = async (api: string, environment: CommandContext['environment']): Promise<Credentials> => {
  const { CHECK_LICENSE_KEY: configuredKey, CHECK_TOKEN: token } = environment;
  if (configuredKey !== undefined && token !== undefined)
    return { licenseKey: configuredKey, token, release: async () => undefined };
  const settings = parseSettings(environment);
  const email = settings.BOOTSTRAP_EMAIL ?? 'owner@localhost.localdomain';
  const password = settings.BOOTSTRAP_PASSWORD;
  if (password === undefined)
    throw new UsageError(`set OIQ_BOOTSTRAP_PASSWORD, or CHECK_LICENSE_KEY and CHECK_TOKEN\n\n${help}`);
  const session = await post<{ token: string }>(`${api}/auth/login`, { email, password });
  const authorization = { authorization: `Bearer ${session.token}` };
  const key = await post<{ id: string; key: string; version: number }>(
    `${api}/api/license-keys`,
    {
      name: `Check of ${new Date().toISOString()}`,
      projectId: 'default',
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    },
    authorization,
  );
  return {
    licenseKey: key.key,
    token: session.token,
    async release() {
      const headers = { ...authorization, 'if-match': `"${key.version}"` };
      await request(`${api}/api/license-keys/${key.id}`, { method: 'DELETE', headers });
    },
  };
};

const createLogsRequest = (body: string): object => ({
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'oiq-check' } }] },
      scopeLogs: [
        {
          logRecords: [
            {
              timeUnixNano: `${Date.now()}000000`,
              severityNumber: 9,
              severityText: 'INFO',
              body: { stringValue: body },
            },
          ],
        },
      ],
    },
  ],
});

/**
 * Retries until the deadline: a new license key reaches all receivers within seconds, and they return 401 until then.
 */
const sendLogRecord = async (otlp: string, licenseKey: string, body: string, deadline: number): Promise<void> => {
  for (;;) {
    try {
      await post(`${otlp}/v1/logs`, createLogsRequest(body), { 'x-license-key': licenseKey });
      return;
    } catch (error) {
      if (Date.now() >= deadline) throw error;
      await delay(pauseMs);
    }
  }
};

const waitForLogRecord = async (api: string, token: string, body: string, deadline: number): Promise<void> => {
  const query = new URLSearchParams({ from: 'now-1h', service: 'oiq-check', search: `"${body}"`, limit: '1' });
  const headers = { authorization: `Bearer ${token}`, 'cache-control': 'no-cache' };
  for (;;) {
    const response = (await (await request(`${api}/api/logs?${query}`, { headers })).json()) as { items: unknown[] };
    if (response.items.length > 0) return;
    if (Date.now() >= deadline)
      throw new Error(
        'the record was acknowledged but cannot be read yet: is a sink for logs running, and what is its lag?',
      );
    await delay(pauseMs);
  }
};

export const checkCommand = async ({ args, environment }: CommandContext): Promise<void> => {
  const values = parseOptions(args, options, help);
  if (values.help === true) return void process.stdout.write(help);
  const { OIQ_OTLP_HTTP_ADDRESS = '127.0.0.1:4318', OIQ_HTTP_ADDRESS = '127.0.0.1:8080' } = environment;
  const { otlp = `http://${OIQ_OTLP_HTTP_ADDRESS}`, api = `http://${OIQ_HTTP_ADDRESS}` } = values;
  const deadline = Date.now() + Number(values.seconds) * 1_000;
  const { licenseKey, token, release } = await createCredentials(api, environment);
  try {
    const body = `check ${randomUUID()}`;
    await sendLogRecord(otlp, licenseKey, body, deadline);
    process.stdout.write(`${otlp} acknowledged a log record\n`);
    await waitForLogRecord(api, token, body, deadline);
    process.stdout.write(`${api} returned it\n`);
  } finally {
    await release();
  }
};
