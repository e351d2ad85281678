/** What this person may call. The document comes with the calls that not everybody may make, as the API declares them. */
import type { Call, Declared } from '../client/call.ts';
import type { Restriction } from '../restriction.ts';
import { session } from './session.ts';

/** A call, whatever it sends and is answered. */
export type AnyCall = Pick<Call<Declared>, 'method' | 'path'>;

/** Where the document has them. */
const restrictions = JSON.parse(document.getElementById('restrictions')?.textContent ?? '[]') as readonly Restriction[];
const byCall = new Map(restrictions.flatMap((one) => one.calls.map((call) => [call, one] as const)));
const listed = new Intl.ListFormat('en');

/** Why this person cannot make a call, which is for `what`; empty where they can. */
export const explainDenial = ({ method, path }: AnyCall, what: string): string => {
  const who = session.value;
  if (who === undefined) return 'Nobody is signed in.';
  const { entitlement, roles = [who.role] } = byCall.get(`${method} ${path}`) ?? {};
  if (entitlement !== undefined && !who.entitlements.includes(entitlement))
    return `The plan of this organization does not include ${what.toLowerCase()}.`;
  return roles.includes(who.role) ? '' : `${what} is for ${listed.format(roles)}; your role is ${who.role}.`;
};

/** Whether to offer a call, or what asks nothing. The API holds it; the page hides what would be refused. */
export const may = (call: AnyCall | undefined): boolean => call === undefined || explainDenial(call, '') === '';
