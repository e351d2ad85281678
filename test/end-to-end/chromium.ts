/** A real browser over the DevTools protocol, for the few pages that we serve. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { eventually } from '../waiting.ts';

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Of this machine: what `TEST_CHROMIUM` names, or the first in the path. */
export const chromiumPath: string | undefined =
  process.env['TEST_CHROMIUM'] ??
  ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
    .flatMap((name) => (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name)))
    .find(isProgram);

/** One tab with cookies of its own. */
export interface Tab {
  go(url: string): Promise<void>;
  /** The addresses in the tab's history. */
  visited(): Promise<readonly string[]>;
  /** The value of an expression in the page. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into values of every shape
  look(expression: string): Promise<any>;
  /** Resolves once an expression holds; an expression that throws does not hold. */
  until(expression: string): Promise<void>;
  /** Fills in the fields with these ids as a keyboard does, and presses Enter in the last one. */
  fillIn(fields: Readonly<Record<string, string>>): Promise<void>;
  /** What the page was forbidden by its policy, and what its script threw. */
  readonly complaints: readonly string[];
  /** Address and body of each request of the tab. */
  readonly requests: readonly { readonly url: string; readonly body: string; readonly referrer: string }[];
}

export interface Chromium {
  open(): Promise<Tab>;
  close(): Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the protocol has a shape a method
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly result?: any;
  readonly error?: { readonly message: string };
}
type Send = (method: string, params?: object) => Promise<Message['result']>;

const addressIn = (child: ChildProcess): Promise<string> =>
  new Promise((found, failed) => {
    let said = '';
    child.once('error', failed);
    child.once('exit', (code) => failed(new Error(`the browser ended with ${code}: ${said}`)));
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk;
      const [, address] = /listening on (ws:\/\/\S+)/.exec(said) ?? [];
      if (address !== undefined) found(address);
    });
  });

export const startChromium = async (path: string): Promise<Chromium> => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-chromium-'));
  // Unlike loopback, a name of the network gets no cookies marked Secure without TLS.
  const flags = [
    '--host-resolver-rules=MAP plain.example 127.0.0.1',
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
  ];
  const child = spawn(path, [...flags, '--remote-debugging-port=0', `--user-data-dir=${directory}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const socket = new WebSocket(await addressIn(child));
  await once(socket, 'open');
  const waiting = new Map<number, (message: Message) => void>();
  const listeners = new Map<string, (message: Message) => void>();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id === undefined) listeners.get(message.sessionId ?? '')?.(message);
    else waiting.get(message.id)?.(message);
  });
  let last = 0;
  const send = (method: string, params: object = {}, sessionId?: string): Promise<Message['result']> =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id);
        if (error === undefined) resolve(result);
        else reject(new Error(`${method}: ${error.message}`));
      });
      socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    });
  return {
    async open() {
      const { browserContextId } = await send('Target.createBrowserContext');
      const { targetId } = await send('Target.createTarget', { url: 'about:blank', browserContextId });
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
      return tabOf(
        (method, params) => send(method, params, sessionId),
        (listener) => listeners.set(sessionId, listener),
      );
    },
    async close() {
      const exited = once(child, 'exit');
      socket.close();
      child.kill('SIGKILL');
      await exited;
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

const tabOf = async (send: Send, listen: (listener: (message: Message) => void) => void): Promise<Tab> => {
  const complaints: string[] = [];
  const requests: { url: string; body: string; referrer: string }[] = [];
  listen(({ method, params }) => {
    if (method === 'Runtime.exceptionThrown') complaints.push(JSON.stringify(params.exceptionDetails));
    if (method === 'Log.entryAdded' && params.entry.source === 'security') complaints.push(params.entry.text);
    if (method !== 'Network.requestWillBeSent') return;
    const { url, postData = '', headers } = params.request;
    requests.push({ url, body: postData, referrer: headers.Referer ?? '' });
  });
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`);
  const look = async (expression: string): Promise<Message['result']> => {
    const { result, exceptionDetails } = await send('Runtime.evaluate', {
      ...{ expression, awaitPromise: true, returnByValue: true },
    });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${exceptionDetails.text}`);
    return result.value;
  };
  const until = async (expression: string): Promise<void> => {
    // A page that is being left knows no answer.
    const holds = async (): Promise<boolean> => (await look(expression).catch(() => false)) === true;
    await eventually(expression, holds).catch(async (cause: Error) => {
      throw new Error(`${cause.message}; ${await look('location.href + " " + document.body.innerText')}`, { cause });
    });
  };
  const press = async (): Promise<void> => {
    const key = { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13 };
    await send('Input.dispatchKeyEvent', { type: 'keyDown', ...key, text: '\r' });
    await send('Input.dispatchKeyEvent', { type: 'keyUp', ...key });
  };
  return {
    ...{ complaints, requests, look, until },
    async go(url) {
      await look('window.isLeft = true');
      const { loaderId } = await send('Page.navigate', { url });
      // Another fragment alone loads nothing.
      if (loaderId !== undefined) await until(`document.readyState === 'complete' && window.isLeft !== true`);
    },
    async visited() {
      const { entries } = await send('Page.getNavigationHistory');
      return entries.map((entry: { readonly url: string }) => entry.url);
    },
    async fillIn(fields) {
      for (const [id, text] of Object.entries(fields)) {
        await look(`(document.getElementById('${id}').focus(), document.getElementById('${id}').select())`);
        await send('Input.insertText', { text });
      }
      await press();
    },
  };
};
