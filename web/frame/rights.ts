/** Permissions of the user. The document contains the restricted calls as declared by the API. */
import type { Call, Declared } from '../client/call.ts';
import type { Restriction } from '../restriction.ts';
import { session } from './session.ts';
import { titleInSentence } from './title-in-sentence.ts';

/** A call with any request and response */
export type AnyCall = Pick<Call<Declared>, 'method' | 'path'>;

/** Element of the document that contains the restrictions */
const restrictions = JSON.parse(document.getElementById('restrictions')?.textContent ?? '[]') as readonly Restriction[];
const byCall = new Map(restrictions.flatMap((one) => one.calls.map((call) => [call, one] as const)));
const listed = new Intl.ListFormat('en');

/** Returns why this user cannot make a call for `what`; empty if they can. */
export const explainDenial = ({ method, path }: AnyCall, what: string): string => {
  const who = session.value;
  if (who === undefined) return 'You are not signed in.';
  const { entitlement, roles = [who.role] } = byCall.get(`${method} ${path}`) ?? {};
  if (entitlement !== undefined && !who.entitlements.includes(entitlement))
    return `The plan of this organization does not include ${titleInSentence(what)}.`;
  return roles.includes(who.role) ? '' : `${what} is for ${listed.format(roles)}; your role is ${who.role}.`;
};

/**
 * Returns whether to offer a call, or an item without a call. The API enforces permissions; the page hides calls that
 * would be rejected.
 */
export const isPermitted = (call: AnyCall | undefined): boolean => call === undefined || explainDenial(call, '') === '';
