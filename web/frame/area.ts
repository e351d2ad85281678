/** Declaration of an area of the page */
import type { ComponentType } from 'preact';
import type { IconShape } from '../components/icon.tsx';
import { type AnyCall, explainDenial } from './rights.ts';

export interface AreaCount {
  /** Word behind the number, for example `firing` */
  readonly title: string;
  /** Returns the number of items of the first page, and whether there are more. */
  load(): Promise<{ readonly count: number; readonly hasMore: boolean }>;
}

export interface Area {
  /** Path of the area, for example `/logs`; it includes all paths below it */
  readonly path: string;
  readonly title: string;
  readonly icon: IconShape;
  /** Page of the documentation about it, such as `explore/logs` */
  readonly docs: string;
  /** First call of the area; users without permission for it cannot open the area */
  readonly requiredCall: AnyCall;
  /** Returns the name of the thing whose page is displayed; empty for a list */
  readPageName?(): string;
  /** Items that need attention, counted in the menu */
  readonly count?: AreaCount;
  /** Loads the code on first use */
  load(): Promise<ComponentType>;
}

/** Group of related areas */
export interface AreaGroup {
  readonly title: string;
  readonly areas: readonly Area[];
}

/** Returns why the user cannot open an area; empty if they can. */
export const explainClosedArea = ({ title, requiredCall }: Area): string => explainDenial(requiredCall, title);
