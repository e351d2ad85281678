/** Properties of the request besides its validated parts. */
export interface RequestFacts {
  readonly requestId: string;
  /** Source address, behind trusted proxies */
  readonly address: string;
  readonly userAgent: string;
  /** Host as sent by the client or the last proxy */
  readonly host: string;
  /** Whether cookies are sent over TLS only */
  readonly secure: boolean;
  header(name: string): string;
  /** Adds a header to the response; `Set-Cookie` may be added several times. */
  reply(name: string, value: string): void;
  /** Responds with a redirect; for operations that a browser opens as a page. */
  redirect(location: string): void;
}
