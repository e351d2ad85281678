/** Type of an expression's value; `vector` is an instant vector, `matrix` a range vector. */
export type ValueType = 'none' | 'vector' | 'scalar' | 'matrix' | 'string';

/** Signature of a PromQL function: arguments and result. */
export interface Signature {
  readonly name: string;
  readonly parameterTypes: readonly ValueType[];
  /** Maximum number of additional arguments of the last type; -1 for any number, 0 for none. */
  readonly maxAdditionalArguments: number;
  readonly returnType: ValueType;
  readonly isExperimental: boolean;
}

const typeCodes = { V: 'vector', M: 'matrix', S: 'scalar', T: 'string' } as const;

/**
 * One line for each shape: arguments, number of additional ones, result type, and `!` for functions that Prometheus
 * calls experimental.
 */
const signatureTable = `
  V 0 V abs absent acos acosh asin asinh atan atanh ceil cos cosh deg exp floor histogram_avg histogram_count histogram_sum histogram_stddev histogram_stdvar ln log10 log2 rad sgn sin sinh sort sort_desc sqrt tan tanh timestamp
  V 1 V days_in_month day_of_month day_of_week day_of_year hour minute month year
  V 0 V! start_timestamp
  V 0 S scalar
  M 0 V absent_over_time avg_over_time changes count_over_time delta deriv first_over_time idelta increase irate last_over_time max_over_time min_over_time present_over_time rate resets stddev_over_time stdvar_over_time sum_over_time
  M 0 V! mad_over_time ts_of_first_over_time ts_of_max_over_time ts_of_min_over_time ts_of_last_over_time
  VSS 0 V clamp
  VS 0 V clamp_max clamp_min
  VS 1 V round
  SSV 0 V histogram_fraction
  SV 0 V histogram_quantile
  VTSS 9 V! histogram_quantiles
  MSS 0 V! double_exponential_smoothing
  MS 0 V predict_linear
  SM 0 V quantile_over_time
  VV 1 V! info
  VTTTT 0 V label_replace
  VTTT -1 V label_join
  VT -1 V! sort_by_label sort_by_label_desc
  SS 0 S! max_of min_of
  - 0 S pi time
  - 0 S! start end step range
  S 0 V vector`;

const parseSignatures = (line: string): Signature[] => {
  const [parameterCodes = '', variadic = '', returnCode = '', ...names] = line.trim().split(' ');
  return names.map((name) => ({
    name,
    parameterTypes:
      parameterCodes === '-' ? [] : [...parameterCodes].map((code) => typeCodes[code as keyof typeof typeCodes]),
    maxAdditionalArguments: Number(variadic),
    returnType: typeCodes[returnCode[0] as keyof typeof typeCodes],
    isExperimental: returnCode.endsWith('!'),
  }));
};

/** All functions of Prometheus 3.15 by name. */
export const signatures: ReadonlyMap<string, Signature> = new Map(
  signatureTable
    .trim()
    .split('\n')
    .flatMap(parseSignatures)
    .map((signature) => [signature.name, signature]),
);
