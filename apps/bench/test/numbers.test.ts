import { expect, test } from "vitest";
import { formatNumber, halfSpread, median, percentile } from "../src/report/numbers.js";

test("the median of an odd number of values is the middle one, whatever their order", () => {
  expect(median([9, 1, 5])).toBe(5);
});

test("the median of an even number of values lies between the two middle ones", () => {
  expect(median([4, 1, 3, 100])).toBe(3.5);
});

test("no values have no median and no percentile", () => {
  expect(median([])).toBeNaN();
  expect(percentile([], 50)).toBeNaN();
  expect(halfSpread([])).toBeNaN();
});

test("a percentile is the smallest value that so many percent do not exceed", () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i);
  expect(percentile(values, 50)).toBe(50);
  expect(percentile(values, 99)).toBe(99);
  expect(percentile(values, 100)).toBe(100);
  expect(percentile(values, 0)).toBe(1);
});

test("numbers are compared as numbers, not as text", () => {
  expect(median([10, 9, 100])).toBe(10);
  expect(percentile([10, 9, 100], 99)).toBe(100);
});

test("half the spread is what lies on either side of the middle", () => {
  expect(halfSpread([10, 70, 40])).toBe(30);
});

test("a number shows three digits that count", () => {
  expect(formatNumber(12_345.6)).toBe("12,346");
  expect(formatNumber(12.345)).toBe("12.3");
  expect(formatNumber(1.2345)).toBe("1.23");
  expect(formatNumber(0.012_345)).toBe("0.0123");
  expect(formatNumber(0)).toBe("0");
  expect(formatNumber(Number.NaN)).toBe("?");
});
