/** What an area of the page declares. */
import type { ComponentType } from 'preact';
import type { Session } from './session.ts';

export interface Area {
  /** `/logs`. Everything below it is the area's too. */
  readonly path: string;
  readonly title: string;
  /** What the plan must include. */
  readonly entitlement?: string;
  /** Its code comes when it is first opened. */
  load(): Promise<ComponentType>;
}

/** Why this person cannot open an area; empty where they can. */
export const whyClosed = ({ title, entitlement }: Area, { entitlements }: Session): string =>
  entitlement === undefined || entitlements.includes(entitlement)
    ? ''
    : `The plan of this organization does not include ${title.toLowerCase()}.`;
