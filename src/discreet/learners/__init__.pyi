from .categorical_nb import CategoricalNB as CategoricalNB
from .decision_tree import DecisionTreeClassifier as DecisionTreeClassifier
from .gaussian_mixture import GaussianMixture as GaussianMixture
from .gaussian_nb import GaussianNB as GaussianNB
from .kmeans import KMeans as KMeans
from .linear_regression import LinearRegression as LinearRegression
from .linear_svc import LinearSVC as LinearSVC
from .logistic_regression import LogisticRegression as LogisticRegression
from .pca import PCA as PCA
from .perceptron import Perceptron as Perceptron
from .random_decision_trees import RandomDecisionTrees as RandomDecisionTrees
from .random_forest import RandomForestClassifier as RandomForestClassifier
from .ridge import Ridge as Ridge

__all__: list[str]
