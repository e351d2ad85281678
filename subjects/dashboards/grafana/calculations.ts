/** Grafana's field calculations by mode, in both directions. */
import { type Fields, isFields } from '../../../runtime/fields.ts';
import type { Ledger } from './ledger.ts';
import { createListLens, flag, getAtPath, integer, type Lens, readLenses, sameNames, text } from './lens.ts';
import { reducer } from './reducers.ts';

const fieldName = text(1024);
const fieldNames = createListLens(fieldName, 1000);

/** One operand of a calculation: a name or number as a text, or an object with it. */
const readOperand = (value: unknown): object | undefined => {
  const operandValue = isFields(value) ? (value['fixed'] ?? getAtPath(value, ['matcher', 'options'])) : value;
  if (typeof operandValue === 'number') return { value: operandValue };
  if (typeof operandValue !== 'string' || operandValue === '') return undefined;
  return operandValue.trim() !== '' && Number.isFinite(Number(operandValue))
    ? { value: Number(operandValue) }
    : { field: operandValue };
};
const writeOperand = (operand: Fields): Fields =>
  'value' in operand ? { fixed: String(operand['value']) } : { matcher: { id: 'byName', options: operand['field'] } };

/** Converts a calculation; undefined if there is no equivalent. */
export const readCalculation = (options: Fields, ledger: Ledger): Fields | undefined => {
  const calculation = readByMode(options, ledger);
  if (calculation === undefined) return undefined;
  ledger.carry(options, 'mode');
  return { calculation };
};

const operators = ['+', '-', '*', '/', '%', '^'];

const readBinary = (binary: unknown, ledger: Ledger): Fields | undefined => {
  if (!isFields(binary)) return undefined;
  const [left, right] = [readOperand(binary['left']), readOperand(binary['right'])];
  const operator = binary['operator'] ?? '+';
  if (left === undefined || right === undefined || !operators.includes(String(operator))) return undefined;
  ledger.carry(binary, 'left', 'right', 'operator');
  return { is: 'binary', left, operator, right };
};

const unaryLenses: readonly Lens[] = [
  ['operator', 'function', sameNames('abs', 'exp', 'ln', 'floor', 'ceil', 'round', 'sign', 'negate')],
  ['fieldName', 'field', fieldName],
];

const readWindow = (window: unknown, ledger: Ledger): Fields | undefined => {
  const windowFields = readFunction('window', ['mean', 'variance', 'stdDev'], window, ledger);
  const size = isFields(window) && window['windowSizeMode'] === 'fixed' ? window['windowSize'] : undefined;
  if (windowFields === undefined || integer(1, 10_000).read(size) === undefined) return undefined;
  ledger.carry(window as Fields, 'windowSize', 'windowSizeMode', 'windowAlignment');
  return {
    ...windowFields,
    rows: size,
    place: (window as Fields)['windowAlignment'] === 'centered' ? 'around' : 'behind',
  };
};

/** Converters for each calculation mode of Grafana. */
const modeReaders: Readonly<Record<string, (options: Fields, ledger: Ledger) => Fields | undefined>> = {
  reduceRow: ({ reduce }, ledger) => {
    const read = readLenses(
      [
        ['reducer', 'reducer', reducer],
        ['include', 'fields', fieldNames],
      ],
      reduce,
      ledger,
    );
    return read['reducer'] === undefined ? undefined : { is: 'row', ...read };
  },
  binary: ({ binary }, ledger) => readBinary(binary, ledger),
  unary: ({ unary }, ledger) => ({ is: 'unary', ...readLenses(unaryLenses, unary, ledger) }),
  cumulativeFunctions: ({ cumulative }, ledger) => readFunction('cumulative', ['sum', 'mean'], cumulative, ledger),
  windowFunctions: ({ window }, ledger) => readWindow(window, ledger),
  index: ({ index }, ledger) => ({ is: 'index', ...readLenses([['asPercentile', 'asShare', flag]], index, ledger) }),
};

const readByMode = (options: Fields, ledger: Ledger): Fields | undefined => {
  const mode = String(options['mode'] ?? 'reduceRow');
  return Object.hasOwn(modeReaders, mode) ? modeReaders[mode]?.(options, ledger) : undefined;
};

const readFunction = (
  calculationKind: string,
  allowedReducers: readonly string[],
  source: unknown,
  ledger: Ledger,
): Fields | undefined => {
  if (!isFields(source) || !allowedReducers.includes(String(source['reducer']))) return undefined;
  const read = readLenses(
    [
      ['reducer', 'function', reducer],
      ['field', 'field', fieldName],
    ],
    source,
    ledger,
  );
  return { is: calculationKind, ...read };
};

export const writeCalculation = ({ calculation }: Fields): Fields => {
  const { is, ...what } = calculation as Fields & { readonly is: string };
  const reducerId = reducer.write(what['reducer'] ?? what['function']);
  const fieldOption = what['field'] === undefined ? {} : { field: what['field'] };
  if (is === 'row')
    return {
      mode: 'reduceRow',
      reduce: { reducer: reducerId, ...(what['fields'] !== undefined && { include: what['fields'] }) },
    };
  if (is === 'binary')
    return {
      mode: 'binary',
      binary: {
        left: writeOperand(what['left'] as Fields),
        operator: what['operator'],
        right: writeOperand(what['right'] as Fields),
      },
    };
  if (is === 'unary') return { mode: 'unary', unary: { operator: what['function'], fieldName: what['field'] } };
  if (is === 'cumulative') return { mode: 'cumulativeFunctions', cumulative: { ...fieldOption, reducer: reducerId } };
  if (is === 'window') {
    const windowAlignment = what['place'] === 'around' ? 'centered' : 'trailing';
    const size = { windowSize: what['rows'], windowSizeMode: 'fixed', windowAlignment };
    return { mode: 'windowFunctions', window: { ...fieldOption, reducer: reducerId, ...size } };
  }
  return { mode: 'index', index: { asPercentile: what['asShare'] } };
};
