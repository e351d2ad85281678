/**
 * A minimal browser for modules of the page: the address with its history, and responses to requests. Import it before
 * these modules. Tests that share it run sequentially.
 */

/** A request of the page; requests are in the order in which they were sent. */
export interface SentRequest {
  readonly method: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
}

type Answer = (request: SentRequest) => Response | Promise<Response>;

const origin = 'https://oiq.example';
let href = `${origin}/`;
let respond: Answer = () => new Response('{}', { status: 404 });
const listeners = new EventTarget();

/** Requests since the last call of `answerWith`. */
export const requests: SentRequest[] = [];
/** Addresses to which the page navigated away. */
export const leftFor: string[] = [];

/** Sets the response to all further requests, and clears the recorded ones. */
export const answerWith = (next: Answer): void => {
  requests.length = 0;
  leftFor.length = 0;
  respond = next;
};

export const json = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json', ...headers } });

/** Navigates to an address, as the buttons for back and forward do. */
export const goBackTo = (address: string): void => {
  href = new URL(address, origin).href;
  listeners.dispatchEvent(new Event('popstate'));
};

const move = (_state: unknown, _title: string, address: string): void => {
  href = new URL(address, href).href;
};

/** Rejects as a browser does when the request is aborted. */
const cancelled = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

/** Restricted calls, as the document of the page contains them. */
const restrictions = [
  { roles: ['admin', 'editor'], calls: ['POST /api/things'] },
  { roles: ['admin', 'editor', 'viewer'], entitlement: 'traces', calls: ['GET /api/traces'] },
];

/** A channel that reaches no other tab. */
class Channel extends EventTarget {
  postMessage(): void {}
}

const texts = new Map<string, string>();

const globals = {
  location: {
    get href() {
      return href;
    },
    origin,
    get pathname() {
      return new URL(href).pathname;
    },
    get search() {
      return new URL(href).search;
    },
    replace: (address: string) => leftFor.push(address),
  },
  history: { pushState: move, replaceState: move },
  addEventListener: listeners.addEventListener.bind(listeners),
  document: {
    getElementById: (id: string) => (id === 'restrictions' ? { textContent: JSON.stringify(restrictions) } : null),
    documentElement: { dataset: {} as Record<string, string> },
  },
  localStorage: {
    getItem: (key: string) => texts.get(key) ?? null,
    setItem: (key: string, text: string) => texts.set(key, text),
  },
  BroadcastChannel: Channel,
  navigator: { locks: { request: (_name: string, run: () => unknown) => run() } },
  fetch: async (address: string, init: RequestInit) => {
    const request = {
      method: init.method ?? 'GET',
      address,
      headers: init.headers as Record<string, string>,
      body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
      signal: init.signal ?? undefined,
    };
    requests.push(request);
    return Promise.race([respond(request), cancelled(request.signal)]);
  },
};
for (const [name, value] of Object.entries(globals))
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
