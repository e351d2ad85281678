/** How often causes of made-up faults are found. */
import { findCauses } from '../../../subjects/causes/judge.ts';
import { type CaseKind, faultCase, faultKinds } from './faults.ts';

/** Each fault, and a third as many cases without a cause. */
export const caseKinds: readonly CaseKind[] = [...faultKinds, 'chance', 'unseen', 'chance', 'unseen'];

export interface Judgement {
  readonly name: string;
  readonly hasCause: boolean;
  /** Of the cause among those that are claimed, from 0 on; -1 where it is not there. */
  readonly place: number;
  readonly isClaimed: boolean;
}

export const judgementsOf = (seeds: readonly number[]): Judgement[] =>
  seeds.flatMap((seed) =>
    caseKinds.map((kind, index) => {
      const { incidentContext, truth } = faultCase(1000 * index + seed, kind);
      const { causes } = findCauses(incidentContext);
      const place = causes.findIndex((cause) => cause.kind === truth?.kind && cause.at === truth.at);
      return {
        name: `${kind} ${1000 * index + seed}`,
        hasCause: truth !== undefined,
        place,
        isClaimed: causes.length > 0,
      };
    }),
  );

/** Shares: the cause is first, is among three, and that one is claimed where there is none. */
export const sharesOf = (all: readonly Judgement[]) => {
  const [faults, none] = [all.filter(({ hasCause }) => hasCause), all.filter(({ hasCause }) => !hasCause)];
  const share = (of: readonly Judgement[], is: (one: Judgement) => boolean): number =>
    of.filter(is).length / Math.max(1, of.length);
  return {
    first: share(faults, ({ place }) => place === 0),
    three: share(faults, ({ place }) => place >= 0 && place < 3),
    claimed: share(none, ({ isClaimed }) => isClaimed),
  };
};
