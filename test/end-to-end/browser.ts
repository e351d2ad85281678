/** A browser for sign-ins at a provider: stores cookies and follows redirects. */

export interface Page {
  readonly url: string;
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly body: any;
}

export interface Browser {
  /** Requests an address and follows redirects until a response is none, or `stop` accepts its target. */
  visit(
    url: string,
    options?: { readonly stop?: (url: string) => boolean; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Page>;
  cookie(url: string, name: string): string | undefined;
}

const maxRedirects = 20;

const pageOf = async (url: string, response: Response): Promise<Page> => {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return { url, status: response.status, body: isJson && text !== '' ? JSON.parse(text) : text };
};

export const openBrowser = (): Browser => {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string): Map<string, string> => {
    const { host } = new URL(url);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    return jar;
  };
  const request = async (url: string, headers: Readonly<Record<string, string>>): Promise<Response> => {
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { ...headers, ...(cookie && { cookie }) } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };
  return {
    async visit(first, { stop = () => false, headers = {} } = {}) {
      let url = first;
      for (let redirects = 0; redirects < maxRedirects; redirects++) {
        const response = await request(url, redirects === 0 ? headers : {});
        const location = response.headers.get('location');
        const page = await pageOf(url, response);
        if (location === null) return page;
        url = new URL(location, url).href;
        if (stop(url)) return { ...page, url };
      }
      throw new Error(`more than ${maxRedirects} redirects, the last to ${url}`);
    },
    cookie: (url, name) => jarOf(url).get(name),
  };
};
