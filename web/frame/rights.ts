/** Permissions of the user. The HTML document contains the restrictions of API calls. */
import type { Call, OperationDeclaration } from '../client/call.ts';
import type { Restriction } from '../restriction.ts';
import { session } from './session.ts';
import { toMidSentenceTitle } from './title-in-sentence.ts';

/** API call of any operation */
export type AnyCall = Pick<Call<OperationDeclaration>, 'method' | 'path'>;

/** Restrictions that the server has embedded in the HTML document */
const restrictions = JSON.parse(document.getElementById('restrictions')?.textContent ?? '[]') as readonly Restriction[];
const restrictionsByCall = new Map(
  restrictions.flatMap((restriction) => restriction.calls.map((call) => [call, restriction] as const)),
);
const listFormat = new Intl.ListFormat('en');

/** Returns why the user may not make a call; empty if they may. `subject` is the subject of the message. */
export const explainDenial = ({ method, path }: AnyCall, subject: string): string => {
  const currentUser = session.value;
  if (currentUser === undefined) return 'You are not signed in.';
  const { entitlement, roles = [currentUser.role] } = restrictionsByCall.get(`${method} ${path}`) ?? {};
  if (entitlement !== undefined && !currentUser.entitlements.includes(entitlement))
    return `The plan of this organization does not include ${toMidSentenceTitle(subject)}.`;
  return roles.includes(currentUser.role)
    ? ''
    : `${subject} is for ${listFormat.format(roles)}; your role is ${currentUser.role}.`;
};

/**
 * Returns whether to offer a call; without a call, it returns true. The API enforces permissions. The page only hides
 * calls that would be rejected.
 */
export const isPermitted = (call: AnyCall | undefined): boolean => call === undefined || explainDenial(call, '') === '';
