/** Access tokens from client credentials (RFC 6749, 4.4): requested once per attempt, as a separate step. */
import type { ClientCredentials } from '../../subjects/synthetics/types/http.ts';
import { toStepFailure } from '../failure.ts';
import {
  getUrlHost,
  type HopResponse,
  parseHttpUrl,
  requireBoundSecrets,
  sendOnce,
  toBodyExcerpt,
} from '../http-hop.ts';
import { createRunHeaders, userAgent } from '../own-headers.ts';
import { PhaseClock } from '../phases.ts';
import { decodeText } from '../response-content.ts';
import { type Attempt, StepFailure, type StepResult } from '../runner.ts';

/** A token; without one, the last result contains the reason. */
interface TokenResult {
  readonly token: string | undefined;
  /** Empty if the token was cached */
  readonly results: readonly StepResult[];
}

interface TokenResponse {
  readonly access_token?: unknown;
  readonly token_type?: unknown;
  readonly error?: unknown;
  readonly error_description?: unknown;
}

const parseTokenResponse = ({ body, charset }: Pick<HopResponse, 'body' | 'charset'>): TokenResponse => {
  try {
    const response: unknown = JSON.parse(decodeText(body, charset));
    return typeof response === 'object' && response !== null ? response : {};
  } catch {
    return {};
  }
};

/** Form-encoded, as required for client credentials in basic authentication (2.3.1). */
const formEncode = (text: string): string => new URLSearchParams({ a: text }).toString().slice(2);

const createTokenRequestBody = ({ clientId, clientSecret, scope, audience, sentIn }: ClientCredentials): string =>
  new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== '' && { scope }),
    ...(audience !== '' && { audience }),
    ...(sentIn === 'body' && { client_id: clientId, client_secret: clientSecret }),
  }).toString();

const createTokenRequestHeaders = ({
  clientId,
  clientSecret,
  sentIn,
}: ClientCredentials): Readonly<Record<string, string>> => ({
  accept: 'application/json',
  'accept-encoding': 'identity',
  'content-type': 'application/x-www-form-urlencoded',
  ...(sentIn === 'header' && {
    authorization: `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(clientSecret)}`).toString('base64')}`,
  }),
});

interface WrittenSettings {
  readonly texts: readonly string[];
  readonly values: readonly string[];
}

export class AccessTokens {
  readonly #attempt: Attempt;
  readonly #tokens = new Map<string, string>();

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  /**
   * Returns a token. `texts` are the settings as written, with the extracted `values` that they use: secrets are only
   * sent to the hosts to which they are bound.
   */
  async get(client: ClientCredentials, settings: WrittenSettings): Promise<TokenResult> {
    const key = JSON.stringify(client);
    const cachedToken = this.#tokens.get(key);
    if (cachedToken !== undefined) return { token: cachedToken, results: [] };
    const clock = new PhaseClock('lookup');
    const step = { name: 'access token' };
    try {
      const { token, ...response } = await this.#request(client, { ...settings, clock });
      if (token !== undefined) this.#tokens.set(key, token);
      return { token, results: [{ ...step, phases: clock.phases(), ...response }] };
    } catch (error) {
      const { signal } = this.#attempt;
      const { message, outcome } = toStepFailure(error, { host: client.tokenUrl, phase: clock.current, signal });
      return { token: undefined, results: [{ ...step, outcome, phases: clock.phases(), message }] };
    }
  }

  async #request(
    client: ClientCredentials,
    { texts, values, clock }: WrittenSettings & { readonly clock: PhaseClock },
  ): Promise<Pick<StepResult, 'outcome' | 'message' | 'status' | 'body'> & { readonly token?: string }> {
    const attempt = this.#attempt;
    const url = parseHttpUrl(client.tokenUrl);
    if (!attempt.canSendTo(texts, getUrlHost(url)))
      throw new StepFailure(`a secret of the check is not bound to ${url.host}`);
    const headers = { ...createTokenRequestHeaders(client), 'user-agent': userAgent, ...createRunHeaders(attempt) };
    const request = {
      url,
      method: 'POST',
      headers,
      body: createTokenRequestBody(client),
      verifyCertificate: true,
      clientCertificate: null,
    };
    requireBoundSecrets(request, values, attempt);
    const received = await sendOnce(request, { ...attempt, clock });
    const { status } = received;
    const {
      access_token: token,
      token_type: type = 'bearer',
      error,
      error_description: description,
    } = parseTokenResponse(received);
    const isBearer = String(type).toLowerCase() === 'bearer';
    if (status === 200 && typeof token === 'string' && token !== '' && isBearer) {
      attempt.addSecret(token);
      return { outcome: 'passed', message: '', status, token };
    }
    const reason = [error, description].filter((part) => typeof part === 'string').join(', ');
    const message = `${url.host} returned no access token${reason === '' ? '' : `: ${reason}`} (status ${status})`;
    return { outcome: 'failed', message, status, body: toBodyExcerpt(received) };
  }
}
