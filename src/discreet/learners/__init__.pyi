from .bayes.categorical_nb import CategoricalNB as CategoricalNB
from .bayes.gaussian_nb import GaussianNB as GaussianNB
from .clusters.gaussian_mixture import GaussianMixture as GaussianMixture
from .clusters.kmeans import KMeans as KMeans
from .components.online_pca import OnlinePCA as OnlinePCA
from .components.pca import PCA as PCA
from .components.truncated_svd import TruncatedSVD as TruncatedSVD
from .linear.erm_classifier import ERMClassifier as ERMClassifier
from .linear.functional_mechanism import FunctionalLinearRegression as FunctionalLinearRegression
from .linear.functional_mechanism import FunctionalLogisticRegression as FunctionalLogisticRegression
from .linear.kernel_svc import KernelSVC as KernelSVC
from .linear.linear_regression import LinearRegression as LinearRegression
from .linear.linear_regression import Ridge as Ridge
from .linear.linear_svc import LinearSVC as LinearSVC
from .linear.logistic_regression import LogisticRegression as LogisticRegression
from .linear.online_ridge import OnlineRidge as OnlineRidge
from .linear.perceptron import Perceptron as Perceptron
from .preprocessing.buy_categories import buy_categories as buy_categories
from .preprocessing.category_encoder import OneHotEncoder as OneHotEncoder
from .preprocessing.category_encoder import OrdinalEncoder as OrdinalEncoder
from .preprocessing.scalers import MinMaxScaler as MinMaxScaler
from .preprocessing.scalers import StandardScaler as StandardScaler
from .selection.evaluate import evaluate as evaluate
from .selection.evaluate_regression import evaluate_regression as evaluate_regression
from .selection.plot_privacy_utility import plot_privacy_utility as plot_privacy_utility
from .selection.private_pipeline import PrivatePipeline as PrivatePipeline
from .selection.private_search_cv import PrivateSearchCV as PrivateSearchCV
from .trees.additive_classifier import AdditiveClassifier as AdditiveClassifier
from .trees.additive_regressor import AdditiveRegressor as AdditiveRegressor
from .trees.boosted_stumps import BoostedStumps as BoostedStumps
from .trees.decision_tree import DecisionTreeClassifier as DecisionTreeClassifier
from .trees.random_forest import RandomDecisionTrees as RandomDecisionTrees
from .trees.random_forest import RandomForestClassifier as RandomForestClassifier

MEANT: dict[str, str]
__all__: list[str]
