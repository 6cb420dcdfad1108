from .additive_classifier import AdditiveClassifier as AdditiveClassifier
from .additive_regressor import AdditiveRegressor as AdditiveRegressor
from .boosted_stumps import BoostedStumps as BoostedStumps
from .buy_categories import buy_categories as buy_categories
from .categorical_nb import CategoricalNB as CategoricalNB
from .decision_tree import DecisionTreeClassifier as DecisionTreeClassifier
from .erm_classifier import ERMClassifier as ERMClassifier
from .evaluate import evaluate as evaluate
from .evaluate_regression import evaluate_regression as evaluate_regression
from .functional_linear_regression import FunctionalLinearRegression as FunctionalLinearRegression
from .functional_logistic_regression import FunctionalLogisticRegression as FunctionalLogisticRegression
from .gaussian_mixture import GaussianMixture as GaussianMixture
from .gaussian_nb import GaussianNB as GaussianNB
from .kernel_svc import KernelSVC as KernelSVC
from .kmeans import KMeans as KMeans
from .linear_regression import LinearRegression as LinearRegression
from .linear_svc import LinearSVC as LinearSVC
from .logistic_regression import LogisticRegression as LogisticRegression
from .min_max_scaler import MinMaxScaler as MinMaxScaler
from .one_hot_encoder import OneHotEncoder as OneHotEncoder
from .online_pca import OnlinePCA as OnlinePCA
from .online_ridge import OnlineRidge as OnlineRidge
from .ordinal_encoder import OrdinalEncoder as OrdinalEncoder
from .pca import PCA as PCA
from .perceptron import Perceptron as Perceptron
from .plot_privacy_utility import plot_privacy_utility as plot_privacy_utility
from .private_pipeline import PrivatePipeline as PrivatePipeline
from .private_search_cv import PrivateSearchCV as PrivateSearchCV
from .random_decision_trees import RandomDecisionTrees as RandomDecisionTrees
from .random_forest import RandomForestClassifier as RandomForestClassifier
from .ridge import Ridge as Ridge
from .standard_scaler import StandardScaler as StandardScaler
from .truncated_svd import TruncatedSVD as TruncatedSVD

MEANT: dict[str, str]
__all__: list[str]
