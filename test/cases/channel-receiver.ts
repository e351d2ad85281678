/** A test server for notification channels: records requests, and sends the configured response. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each service has a different form
  readonly body: any;
}

export type Reply =
  | 'hang'
  | { readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> };

export interface ChannelReceiver {
  readonly url: string;
  readonly received: Received[];
  /** The response to all further requests. */
  reply: (received: Received) => Reply;
  close(): Promise<void>;
}

const parsed = (text: string, type: string): unknown => {
  if (type === 'application/x-www-form-urlencoded') return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const startChannelReceiver = async (reply: Reply = { status: 200 }): Promise<ChannelReceiver> => {
  const received: Received[] = [];
  const receiver = { url: '', received, reply: (_: Received): Reply => reply };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const one = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      text,
      body: parsed(text, request.headers['content-type'] ?? ''),
    };
    received.push(one);
    const apiResponse = receiver.reply(one);
    if (apiResponse !== 'hang') response.writeHead(apiResponse.status, apiResponse.headers).end(apiResponse.body ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(receiver, {
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
};

const twilio = (url: string) => ({
  url,
  accountSid: 'AC1234',
  authToken: 'token-of-twilio',
  from: '+15005550006',
  to: '+41441234567',
});

/** The response of each service that accepts a notification, and the settings of a channel that sends to `url`. */
export const services: Readonly<
  Record<string, { readonly settings: (url: string) => object; readonly accepted: Reply }>
> = {
  webhook: {
    settings: (url) => ({ url: `${url}/hook`, signingSecret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }),
    accepted: { status: 200 },
  },
  slack: { settings: (url) => ({ webhookUrl: `${url}/services/T0/B0/x` }), accepted: { status: 200, body: 'ok' } },
  teams: { settings: (url) => ({ webhookUrl: `${url}/workflows/1` }), accepted: { status: 202 } },
  discord: {
    settings: (url) => ({ webhookUrl: `${url}/api/webhooks/1/token` }),
    accepted: { status: 200, body: '{"id":"1234"}' },
  },
  pagerduty: {
    settings: (url) => ({ url: `${url}/v2/enqueue`, routingKey: 'routing-key-of-pagerduty' }),
    accepted: { status: 202, body: '{"status":"success","dedup_key":"x"}' },
  },
  opsgenie: {
    settings: (url) => ({ url, apiKey: 'api-key-of-opsgenie' }),
    accepted: { status: 202, body: '{"result":"Request will be processed","requestId":"1"}' },
  },
  telegram: {
    settings: (url) => ({ url, botToken: '123456:ABC-DEF1234567', chatId: '-100123' }),
    accepted: { status: 200, body: '{"ok":true,"result":{"message_id":1}}' },
  },
  ntfy: {
    settings: (url) => ({ url, topic: 'pages-of-ann', token: 'tk_token-of-ntfy' }),
    accepted: { status: 200, body: '{"id":"hwQ2YpKdmg","event":"message"}' },
  },
  sms: { settings: twilio, accepted: { status: 201, body: '{"sid":"SM1","status":"queued"}' } },
  voice: { settings: twilio, accepted: { status: 201, body: '{"sid":"CA1","status":"queued"}' } },
};
