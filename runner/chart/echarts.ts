import { CustomChart, LineChart, ScatterChart } from "echarts/charts";
import {
	GridComponent,
	LegendComponent,
	MarkAreaComponent,
	MarkLineComponent,
	MarkPointComponent,
	TitleComponent,
} from "echarts/components";
import { init, use } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { SVGRenderer } from "echarts/renderers";

/** The parts of ECharts that every picture is made of; a page adds those that a reader moves (page/client/chart.ts). */
use([
	CustomChart,
	GridComponent,
	LabelLayout,
	LegendComponent,
	LineChart,
	MarkAreaComponent,
	MarkLineComponent,
	MarkPointComponent,
	SVGRenderer,
	ScatterChart,
	TitleComponent,
]);

export { init, use };
