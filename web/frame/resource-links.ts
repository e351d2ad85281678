/** Pages of the resources that responses of the API refer to by their path */
import { toArea } from './address.ts';

const pages: readonly (readonly [path: RegExp, toUrl: (id: string) => string])[] = [
  [/^\/api\/services\/([^/]+)\/deployments$/, (name) => toServicePage(name, { tab: 'deployments' })],
  [/^\/api\/services\/([^/]+)$/, (name) => toServicePage(name)],
  [/^\/api\/logs\/patterns\/([^/]+)$/, (shown) => toArea('/logs', { view: 'patterns', shown })],
  [/^\/api\/logs\/([^/]+)$/, (record) => toArea('/logs', { record })],
  [/^\/api\/errors\/([^/]+)$/, (error) => toArea('/errors', { error })],
  [/^\/api\/infrastructure\/hosts\/([^/]+)$/, (open) => toArea('/infrastructure', { open })],
  [/^\/api\/infrastructure\/disks$/, () => toArea('/infrastructure')],
  [/^\/api\/slos\/([^/]+)\/status$/, (open) => toArea('/slos', { open })],
  [/^\/api\/synthetics\/checks\/([^/]+)$/, (open) => toArea('/checks', { open })],
  [/^\/api\/ai\/anomalies\/([^/]+)$/, (open) => toArea('/anomalies', { open })],
  [/^\/api\/ai\/detectors\/([^/]+)$/, (open) => toArea('/anomalies/detectors', { open })],
  [/^\/api\/incidents\/([^/]+)$/, (incident) => toArea('/incidents', { incident })],
  [/^\/api\/alerts$/, () => toArea('/alerts')],
];

/** Returns the page of a service. */
export const toServicePage = (name: string, values: Readonly<Record<string, string>> = {}): string =>
  toArea(`/services/${encodeURIComponent(name)}`, values);

/** Returns the page of a session of a browser. */
export const toSessionPage = (id: string): string => toArea(`/digital-experience/sessions/${encodeURIComponent(id)}`);

/** Returns the page of a resource by its API path, with or without parameters; `undefined` if there is none. */
export const toResourcePage = (apiPath: string): string | undefined => {
  const [path = '', parameters = ''] = apiPath.split('?');
  if (path === '/api/spans') {
    const { scope: _, ...values } = Object.fromEntries(new URLSearchParams(parameters));
    return toArea('/traces', values);
  }
  for (const [pattern, toUrl] of pages) {
    const match = pattern.exec(path);
    if (match !== null) return toUrl(decodeURIComponent(match[1] ?? ''));
  }
  return undefined;
};
