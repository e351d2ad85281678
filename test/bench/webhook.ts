import { startChannelReceiver } from '../cases/channel-receiver.ts';
import { owner } from '../end-to-end/oiq-process.ts';

/** Operations of a running OIQ as its owner. Its alerts are sent to one webhook without delay, grouped by one label. */
export const openWebhook = async (http: string, groupBy: string) => {
  const receiver = await startChannelReceiver();
  const sendRequest = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${http}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return { body: JSON.parse(text), etag: response.headers.get('etag') ?? '' };
  };
  const { token } = (await sendRequest('POST', '/auth/login', owner)).body;
  const as = { authorization: `Bearer ${token}` };
  const channel = { name: 'hook', settings: { type: 'webhook', url: receiver.url }, maxPerMinute: 6000 };
  const { id } = (await sendRequest('POST', '/api/notification-channels', channel, as)).body;
  const { etag } = await sendRequest('GET', '/api/v2/alerts/routing', undefined, as);
  const routing = {
    route: { receiver: 'hook', groupBy: [groupBy], groupWait: '0s', groupInterval: '1s' },
    receivers: [{ name: 'hook', channelIds: [id] }],
  };
  await sendRequest('PUT', '/api/v2/alerts/routing', routing, { ...as, 'if-match': etag });
  return {
    receiver,
    /** Returns the JSON of an operation, requested as the owner. */
    request: async (method: string, path: string, body?: object) => (await sendRequest(method, path, body, as)).body,
  };
};
