/** Header fields of a received request, validated by RFC 9113, sections 8.2 and 8.3. */

/** Names are lower-case, pseudo-headers begin with a colon; values of a repeated name are joined by a comma. */
export type Headers = Readonly<Record<string, string>>;

const pseudoHeaders = new Set([':method', ':scheme', ':authority', ':path']);
const connectionHeaders = new Set(['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade']);
/** Valid names: RFC 9110 tokens without capitals. */
const namePattern = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds the control characters that a value must not contain.
const forbiddenValuePattern = /[\x00\n\r]|^[ \t]|[ \t]$/;

export class RequestHeaders {
  readonly headers: Record<string, string> = Object.create(null);
  #errorMessage: string | undefined;
  #hasRegularField = false;

  add(name: string, value: string): void {
    const isPseudo = name.charCodeAt(0) === 0x3a;
    const existingValue = this.headers[name];
    if (isPseudo) this.#checkPseudoHeader(name, existingValue !== undefined);
    else this.#checkField(name, value);
    if (forbiddenValuePattern.test(value)) this.#errorMessage ??= `the value of ${name} has forbidden characters`;
    this.headers[name] = existingValue === undefined ? value : `${existingValue}, ${value}`;
  }

  #checkPseudoHeader(name: string, isRepeated: boolean): void {
    if (!pseudoHeaders.has(name)) this.#errorMessage ??= `unknown pseudo-header ${name}`;
    if (this.#hasRegularField) this.#errorMessage ??= `${name} follows other fields`;
    if (isRepeated) this.#errorMessage ??= `${name} occurs twice`;
  }

  #checkField(name: string, value: string): void {
    this.#hasRegularField = true;
    if (!namePattern.test(name)) this.#errorMessage ??= 'a name of a header field has forbidden characters';
    if (connectionHeaders.has(name)) this.#errorMessage ??= `${name} belongs to HTTP/1`;
    if (name === 'te' && value !== 'trailers') this.#errorMessage ??= 'te may only be trailers';
  }

  /** Why one of the fields is invalid in any message; undefined if all are valid. */
  get fieldError(): string | undefined {
    return this.#errorMessage;
  }

  /** Returns why this is not a valid request; `undefined` if it is one. */
  findFault(): string | undefined {
    if (this.#errorMessage !== undefined) return this.#errorMessage;
    const { headers } = this;
    if (headers[':method'] === undefined) return ':method is missing';
    if (headers[':method'] === 'CONNECT') return 'CONNECT is not served';
    if (headers[':scheme'] === undefined) return ':scheme is missing';
    if (!headers[':path']) return ':path is missing';
    const length = headers['content-length'];
    return length === undefined || /^\d{1,15}$/.test(length) ? undefined : 'content-length is not a number';
  }
}
