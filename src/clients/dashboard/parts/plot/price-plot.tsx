import type { PricePoint } from "../../state/candles/plot.ts";
import { type Band, priceText, usePlot } from "./use-plot.ts";

interface PricePlotProps {
  /** Closes of minutes, each with the end of its minute, oldest first. */
  readonly points: readonly PricePoint[];
  readonly bands: readonly Band[];
}

/** The prices of the last hour. */
export function PricePlot({ points, bands }: PricePlotProps) {
  const prices = points.map(([, price]) => price);
  const container = usePlot({
    data: [points.map(([atMs]) => atMs / 1_000), prices],
    bands,
    state: `${points.length} ${points.at(-1)} ${bands.map(({ startMs, endMs }) => `${startMs} ${endMs}`)}`,
    seriesOf: (style) => ({
      series: [
        {
          label: "Price",
          stroke: () => style.color,
          width: 2,
          points: { show: false },
          value: (_, value) => priceText(value),
        },
      ],
    }),
  });
  const [low, high] = [Math.min(...prices), Math.max(...prices)].map(priceText);
  const text = `Price of the last ${points.length} minutes: between ${low} and ${high}`;
  return <div class="plot" ref={container} role="img" aria-label={text} />;
}
