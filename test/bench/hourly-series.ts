/** Seeded hourly series of a synthetic system: daily and weekly cycles, drifting levels, counts, ratios, trends. */
import { randomOf } from '../cases/random.ts';

export const hourlySeries = (seed: number, length: number): number[] => {
  const random = randomOf(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const [base, day, week] = [50 + 500 * random(), 0.6 * random(), 0.3 * random()];
  const [noise, carries, wander] = [0.02 + 0.15 * random(), 0.9 * random(), 0.01 * random()];
  const slope = random() < 0.3 ? (random() - 0.3) / 1000 : 0;
  const phase = 24 * random();
  let [left, level] = [0, 0];
  return Array.from({ length }, (_, hour) => {
    left = carries * left + noise * normal();
    level += wander * normal();
    const ofDay = Math.sin((2 * Math.PI * (hour + phase)) / 24) + 0.4 * Math.sin((4 * Math.PI * (hour + phase)) / 24);
    const weekend = Math.floor(hour / 24) % 7 >= 5 ? -week : 0;
    return Math.max(0, Math.round(base * Math.exp(day * ofDay + weekend + level + left + slope * hour)));
  });
};
