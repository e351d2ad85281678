import { z } from 'zod';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { Counters } from '../../../schemas/ports/counters.ts';
import type { RequestFacts } from '../../request-facts.ts';
import { readCookie } from '../cookies.ts';
import { createUnauthenticatedError } from '../session.ts';

/** State for the callback, stored only in the redirected browser. */
const Flow = z.strictObject({
  tenantId: z.string(),
  /** The provider of the redirect: if it was replaced in the meantime, the response is rejected. */
  issuer: z.string(),
  clientId: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  /** The signed-in user who links the identity */
  link: z.strictObject({ userId: z.string(), sessionId: z.string() }).optional(),
  expiresAtMs: z.number(),
});
export type Flow = z.output<typeof Flow>;

export const flowLifetimeMs = 10 * 60_000;
const cookieName = 'oiq_sso';
const cookiePurpose = 'single sign-on';

const setFlowCookie = (request: RequestFacts, value: string, until: Date): void =>
  // Lax: the provider redirects the browser back from another site.
  request.reply(
    'Set-Cookie',
    `${cookieName}=${value}; Path=/auth/sso; HttpOnly; SameSite=Lax; Expires=${until.toUTCString()}${request.secure ? '; Secure' : ''}`,
  );

/** Binds a flow to the browser. A second flow replaces the first. */
export const storeFlow = (request: RequestFacts, box: SecretBox, flow: Flow): void =>
  setFlowCookie(request, box.seal(cookiePurpose, JSON.stringify(flow)), new Date(flow.expiresAtMs));

const createLostFlowError = () =>
  createUnauthenticatedError(
    'this sign-in was not started in this browser, took too long, or was already completed; start again',
  );

/** Consumes the flow of the returning browser. Throws `UNAUTHENTICATED` if there is none with the state. */
export const consumeFlow = async (
  request: RequestFacts,
  state: string | undefined,
  { box, counters, nowMs }: { readonly box: SecretBox; readonly counters: Counters; readonly nowMs: number },
): Promise<Flow> => {
  const sealedFlow = readCookie(request.header('cookie'), cookieName);
  const text = sealedFlow === undefined ? undefined : box.open(cookiePurpose, sealedFlow);
  if (text === undefined) throw createLostFlowError();
  setFlowCookie(request, '', new Date(0));
  const flow = Flow.parse(JSON.parse(text));
  if (flow.expiresAtMs <= nowMs || flow.state !== state) throw createLostFlowError();
  // The window is aligned to the clock; two windows are always longer than the lifetime of a flow.
  const { granted } = await counters.spend(`sso/${flow.state}`, 1, 2 * flowLifetimeMs, 1);
  if (granted < 1) throw createLostFlowError();
  return flow;
};

/** Whether a text is a path of this site that is safe to redirect to after the sign-in. */
export const isLocalPath = (text: string): boolean => {
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\')) return false;
  const baseUrl = 'http://here.invalid';
  return URL.canParse(text, baseUrl) && new URL(text, baseUrl).origin === baseUrl;
};
