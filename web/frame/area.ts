/** What an area of the page declares. */
import type { ComponentType } from 'preact';
import { type AnyCall, explainDenial } from './rights.ts';

export interface Area {
  /** `/logs`. Everything below it is the area's too. */
  readonly path: string;
  readonly title: string;
  /** What it asks first: who may not call it cannot open the area. */
  readonly requiredCall: AnyCall;
  /** Its code comes when it is first opened. */
  load(): Promise<ComponentType>;
}

/** Areas that are for the same. */
export interface AreaGroup {
  readonly title: string;
  readonly areas: readonly Area[];
}

/** Why this person cannot open an area; empty where they can. */
export const explainClosedArea = ({ title, requiredCall }: Area): string => explainDenial(requiredCall, title);
