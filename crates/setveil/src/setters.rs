//! Builders for options: fields can be added without breaking callers, who
//! begin with `Default` and set what they need.

/// For every field, a method of the same name that sets it.
macro_rules! setters {
    ($type:ident { $($(#[$doc:meta])* $field:ident: $value:ty),+ $(,)? }) => {
        impl $type {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $field(mut self, $field: $value) -> Self {
                    self.$field = $field;
                    self
                }
            )+
        }
    };
}
