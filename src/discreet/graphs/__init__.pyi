from .degrees import choose_max_degree as choose_max_degree
from .degrees import degree_histogram as degree_histogram
from .degrees import degree_sequence as degree_sequence
from .degrees import degrees as degrees
from .edges import block_counts as block_counts
from .edges import cut as cut
from .edges import density as density
from .edges import edge_count as edge_count
from .graph_data import graph_data as graph_data
from .joint_degrees import joint_degrees as joint_degrees
from .joint_degrees import weighted_triangles as weighted_triangles
from .laplacian_sketch import SketchedLaplacian as SketchedLaplacian
from .laplacian_sketch import laplacian_sketch as laplacian_sketch
from .publishing.comparisons import block_model_network as block_model_network
from .publishing.comparisons import randomized_network as randomized_network
from .publishing.publish_network import publish_network as publish_network
from .publishing.published_network import PublishedNetwork as PublishedNetwork
from .publishing.utility import utility_against_truth as utility_against_truth
from .subgraph_counts import clustering as clustering
from .subgraph_counts import k_stars as k_stars
from .subgraph_counts import triangles as triangles
from .synthetic_graph import SyntheticGraph as SyntheticGraph
from .synthetic_graph import synthetic_graph as synthetic_graph

__all__: list[str]
