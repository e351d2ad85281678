/** Option of an import: whether it also changes what was made by hand */
import { CheckInput } from './inputs.tsx';

export const TakeOverInput = ({
  value,
  onChange,
}: {
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
}) => (
  <CheckInput label="Also replace items of the same name that were not imported" value={value} onChange={onChange} />
);
