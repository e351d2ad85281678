/** Names of fields in documents that were saved before version 2, and what they are called since. */
import { changeInside, type FieldChange, renameFields } from '../../runtime/rename-fields.ts';

const both =
  (first: FieldChange, second: FieldChange): FieldChange =>
  (fields) =>
    second(first(fields));

const renameLimit = renameFields({ most: 'max' });
const renameImported = renameFields({ kept: 'unmapped' });
export const renameFormerVisual = both(
  renameFields({ most: 'max', why: 'reason' }),
  changeInside({ reduce: renameLimit }),
);
const renamePanel = both(
  renameFields({ mostPoints: 'maxDataPoints', shortestStep: 'minStep' }),
  changeInside({
    queries: renameFields({ shortestStep: 'minStep' }),
    visual: renameFormerVisual,
    repeat: renameLimit,
    imported: renameImported,
  }),
);

/** A document of version 1 with the names of version 2. */
export const renameFormerFields = changeInside({
  panels: renamePanel,
  sections: changeInside({ repeat: renameLimit }),
  variables: changeInside({ auto: renameFields({ least: 'min' }), imported: renameImported }),
  annotations: changeInside({ imported: renameImported }),
  imported: renameImported,
});
