/** What an area of the page declares. */
import type { ComponentType } from 'preact';
import { mayAs, type Session } from './session.ts';

export interface Area {
  /** `/logs`. Everything below it is the area's too. */
  readonly path: string;
  readonly title: string;
  /** What the plan must include. */
  readonly entitlement?: string;
  /** The lowest role that may open it; without one everybody may. */
  readonly role?: Session['role'];
  /** Its code comes when it is first opened. */
  load(): Promise<ComponentType>;
}

/** Why this person cannot open an area; empty where they can. */
export const whyClosed = ({ title, entitlement, role }: Area, who: Session): string => {
  if (entitlement !== undefined && !who.entitlements.includes(entitlement))
    return `The plan of this organization does not include ${title.toLowerCase()}.`;
  if (role !== undefined && !mayAs(role)) return `${title} is for the role ${role}; yours is ${who.role}.`;
  return '';
};
