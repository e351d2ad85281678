/** How often the causes of synthetic faults are found. */
import { findCauses } from '../../../subjects/causes/score-causes.ts';
import { type CaseKind, faultCase, faultKinds } from './faults.ts';

/** Each fault, and four kinds without a cause. */
export const caseKinds: readonly CaseKind[] = [...faultKinds, 'chance', 'unseen', 'chance', 'unseen'];

export interface Judgement {
  readonly name: string;
  readonly hasCause: boolean;
  /** The rank of the cause among the claimed causes, from 0 on; -1 if it is missing. */
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

/** Shares of cases: the cause is first, is among the first three, and a cause is claimed although there is none. */
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
