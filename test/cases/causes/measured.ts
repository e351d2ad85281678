/** How often causes of made-up faults are found. */
import { causesOf } from '../../../subjects/causes/judge.ts';
import { type CaseKind, type FaultCase, faultCase, faultKinds } from './faults.ts';

export interface Found {
  readonly cases: number;
  readonly first: number;
  readonly three: number;
  readonly none: number;
  readonly claimed: number;
  readonly missed: readonly string[];
}

const placeOf = ({ scene, truth }: FaultCase): number =>
  causesOf(scene).causes.findIndex(({ kind, at }) => kind === truth?.kind && at === truth.at);

/** Cases of these seeds: each fault, and as many cases without a cause as a quarter of them. */
export const foundOf = (seeds: readonly number[]): Found => {
  let [cases, first, three, none, claimed] = [0, 0, 0, 0, 0];
  const missed: string[] = [];
  for (const seed of seeds) {
    const kinds: CaseKind[] = [...faultKinds, 'chance', 'unseen', 'chance', 'unseen'];
    for (const kind of kinds) {
      const made = faultCase(seed, kind);
      if (made.truth === undefined) {
        none++;
        if (causesOf(made.scene).causes.length > 0) {
          claimed++;
          missed.push(`${kind} ${seed}`);
        }
        continue;
      }
      cases++;
      const place = placeOf(made);
      if (place === 0) first++;
      else missed.push(`${kind} ${seed}`);
      if (place >= 0 && place < 3) three++;
    }
  }
  return { cases, first, three, none, claimed, missed };
};
